"""The experiments of Knauer and Rodner (2023), run as a whole and resumable.

A study lives in a folder: `study.json` says what it is, `journals/` keeps the results as they come,
and `results.csv.gz`, `summary.csv.gz`, `features.csv.gz` and `provenance.json` are what came out.
"""

from .plan import PRESETS, Arm, Preset, Run, runs_of
from .run import ArmStatus, resume, start, status
from .tables import Tables

__all__ = [
    "PRESETS",
    "Arm",
    "ArmStatus",
    "Preset",
    "Run",
    "Tables",
    "resume",
    "runs_of",
    "start",
    "status",
]
