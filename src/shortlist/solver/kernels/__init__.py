"""Compiled kernels: plain functions on arrays. Single letters follow the symbols of the design."""
