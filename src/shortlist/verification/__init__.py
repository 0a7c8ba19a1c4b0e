"""An independent check of certificates, which shares no code with the solver."""

from .checker import Verdict, verify

__all__ = ["Verdict", "verify"]
