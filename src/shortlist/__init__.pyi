# The public names: the only list of them, for type checkers and for `__init__.py`, which reads the
# lines below and imports a module when its first name is used.
from . import datasets as datasets
from . import deployment as deployment
from . import evaluation as evaluation
from . import external as external
from . import plots as plots
from . import report as report
from .backends import available_backends as available_backends
from .backends import solve as solve
from .certificate import Certificate as Certificate
from .choice import cheapest_within as cheapest_within
from .choice import near_optimal as near_optimal
from .choice import price_ranges as price_ranges
from .choice import solve_path as solve_path
from .choice import substitutes as substitutes
from .conic import export as export
from .cross_validation import Tuning as Tuning
from .deployment import points as points
from .errors import InfeasibleError as InfeasibleError
from .errors import InvalidCertificateError as InvalidCertificateError
from .errors import InvalidFileError as InvalidFileError
from .errors import InvalidProblemError as InvalidProblemError
from .errors import MissingDependencyError as MissingDependencyError
from .errors import ShortlistWarning as ShortlistWarning
from .estimator import BestSubsetClassifier as BestSubsetClassifier
from .estimator import BestSubsetCox as BestSubsetCox
from .estimator import BestSubsetRegressor as BestSubsetRegressor
from .evaluation import Experiment as Experiment
from .evaluation import evaluate as evaluate
from .event_times import survival as survival
from .patients import Codebook as Codebook
from .patients import ModelCard as ModelCard
from .patients import Preparation as Preparation
from .patients import PrognosticModel as PrognosticModel
from .problem import SubsetProblem as SubsetProblem
from .solution import Solution as Solution
from .solution import Status as Status
from .verification import Verdict as Verdict
from .verification import verify as verify

__version__: str
__all__: list[str]
