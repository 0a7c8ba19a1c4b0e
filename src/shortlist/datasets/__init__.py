"""Synthetic data with known roles and costs; imports nothing else of shortlist."""

from .prognostic import PrognosticData, make_prognostic, paper_datasets

__all__ = ["PrognosticData", "make_prognostic", "paper_datasets"]
