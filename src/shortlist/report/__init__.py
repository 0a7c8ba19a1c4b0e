"""A report about a fitted prognostic model, to read, to print and to hand in.

`write_report` does it all; `validate_model`, `describe_model` and `render_report` are its parts.
The extra `shortlist[report]` brings what it needs.
"""

from .comparison import compare_rules
from .content import Centres, ExternalContent, ReportContent
from .document import describe_model, report_data_path, write_report
from .group import check_centres, split_subgroups, validate_centres
from .manuscript import write_manuscript
from .page import render_report, require_packages
from .performance import check_thresholds
from .validation import N_RESAMPLES, check_enough, validate_model

__all__ = [
    "N_RESAMPLES",
    "Centres",
    "ExternalContent",
    "ReportContent",
    "check_centres",
    "check_enough",
    "check_thresholds",
    "compare_rules",
    "describe_model",
    "render_report",
    "report_data_path",
    "require_packages",
    "split_subgroups",
    "validate_centres",
    "validate_model",
    "write_manuscript",
    "write_report",
]
