"""The solver of this package: the compiled core, and the Python that drives it."""
