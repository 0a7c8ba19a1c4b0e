"""The figures of a study, drawn from its saved tables alone."""

from .folder import draw_figures

__all__ = ["draw_figures"]
