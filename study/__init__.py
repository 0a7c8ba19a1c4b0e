"""The experiments of Knauer and Rodner (2023), run again: `python -m study --help`.

A study lives in a folder: `study.json` has its plan, `journals/` keeps the results as they come,
and `selections.csv.gz`, `runs.csv.gz`, `intervals.csv.gz` and `provenance.json` are its tables. The
folder `results` has those of docs/study.md. Of shortlist it uses public names only.
"""
