# The public names of the package, a line each: see `lazy`.
from .card import ModelCard as ModelCard
from .model import PrognosticModel as PrognosticModel
from .preparation import Preparation as Preparation
from .proof import is_proven as is_proven
from .proof import load_proof as load_proof
from .proof import problem_of as problem_of
from .proof import save_proof as save_proof
from .proof import verify_model as verify_model
from .record import Codebook as Codebook
from .suspicion import Finding as Finding
