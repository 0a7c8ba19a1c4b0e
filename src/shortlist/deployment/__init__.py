"""A fitted model outside Python: code, a workbook, a calculator, points and a nomogram.

`write_model` writes R, SQL, JavaScript or Excel, `write_calculator` a page for the bedside, and
`points` finds whole-number points within the same limits.
"""

from ..lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
