# The public names of the package, a line each: see `lazy`.
from .comparison import compare_rules as compare_rules
from .content import Centres as Centres
from .content import ExternalContent as ExternalContent
from .content import ReportContent as ReportContent
from .document import describe_model as describe_model
from .document import report_data_path as report_data_path
from .document import write_report as write_report
from .group import check_centres as check_centres
from .group import split_subgroups as split_subgroups
from .group import validate_centres as validate_centres
from .manuscript import write_manuscript as write_manuscript
from .page import render_report as render_report
from .page import require_packages as require_packages
from .performance import check_thresholds as check_thresholds
from .validation import N_RESAMPLES as N_RESAMPLES
from .validation import check_enough as check_enough
from .validation import validate_model as validate_model
