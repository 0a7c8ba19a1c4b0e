"""Tables of patients and lists of prices: read from files, and written so that they are safe."""

from .on_disk import store_columns
from .price_list import read_costs, read_fees
from .read import read_noting, read_table
from .write import csv_text

__all__ = ["csv_text", "read_costs", "read_fees", "read_noting", "read_table", "store_columns"]
