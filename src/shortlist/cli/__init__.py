"""The command line, `shortlist`."""

from .app import main

__all__ = ["main"]
