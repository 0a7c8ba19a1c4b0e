"""Tables of patients and lists of prices, read from files; CSV that is safe to open."""

from .delimited import csv_text
from .price_list import PRICE_LIST, read_costs, read_fees, read_price_list, read_synonyms
from .table import read_table, read_table_and_notes, write_workbook

__all__ = [
    "PRICE_LIST",
    "csv_text",
    "read_costs",
    "read_fees",
    "read_price_list",
    "read_synonyms",
    "read_table",
    "read_table_and_notes",
    "write_workbook",
]
