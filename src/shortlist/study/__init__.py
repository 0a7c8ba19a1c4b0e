"""The experiments of Knauer and Rodner (2023), run as a whole and resumable.

A study lives in a folder: `study.json` says what it is, `journals/` keeps the results as they come,
and `results.csv.gz`, `summary.csv`, `features.csv.gz` and `provenance.json` are what came out.
"""

from .plan import PRESETS, Arm, Preset, Run, runs_of
from .results import Results
from .run import ArmStatus, Status, resume, start, status

__all__ = [
    "PRESETS",
    "Arm",
    "ArmStatus",
    "Preset",
    "Results",
    "Run",
    "Status",
    "resume",
    "runs_of",
    "start",
    "status",
]
