"""Tables of patients and lists of prices, read from files; CSV that is safe to open."""

from .delimited import csv_text
from .price_list import read_costs, read_fees, read_synonyms
from .table import read_table, read_table_and_notes, write_workbook

__all__ = [
    "csv_text",
    "read_costs",
    "read_fees",
    "read_synonyms",
    "read_table",
    "read_table_and_notes",
    "write_workbook",
]
