# The public names of the package, a line each: see `lazy`.
from .classifier import BestSubsetClassifier as BestSubsetClassifier
from .cox import BestSubsetCox as BestSubsetCox
from .cox import StepFunction as StepFunction
from .regressor import BestSubsetRegressor as BestSubsetRegressor
