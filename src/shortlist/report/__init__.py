"""A report about a fitted prognostic model, to read, to print and to hand in.

`write_report` does it all; `validate_model`, `describe_model` and `render_report` are its parts.
The extra `shortlist[report]` brings what it needs.
"""

from ..lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
