"""Affine functions of a model's variables, a row each, so that a model reads like its equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from ..arguments import Float

Sparse: TypeAlias = "sparse.csr_array[Any]"  # a text, because older SciPy cannot subscript it


@dataclass(frozen=True)
class Affine:
    """The functions `matrix @ x + offset`."""

    matrix: Sparse  # (n_functions, n_variables)
    offset: Float  # (n_functions,)

    def __len__(self) -> int:
        return len(self.offset)

    def __neg__(self) -> Affine:
        return Affine(-self.matrix, -self.offset)

    def __add__(self, other: Affine) -> Affine:
        return Affine(sparse.csr_array(self.matrix + other.matrix), self.offset + other.offset)

    def __sub__(self, other: Affine) -> Affine:
        return self + -other

    def __getitem__(self, rows: Any) -> Affine:
        return Affine(self.matrix[rows], self.offset[rows])


def constant(value: float, n_functions: int, n_variables: int) -> Affine:
    """Return functions that do not depend on the variables."""
    return Affine(sparse.csr_array((n_functions, n_variables)), np.full(n_functions, value))


def combine(factors: Any, functions: Affine) -> Affine:
    """Return the combinations of functions whose factors are the rows of a matrix."""
    factors = sparse.csr_array(factors)
    return Affine(sparse.csr_array(factors @ functions.matrix), factors @ functions.offset)


def stack(parts: list[Affine], n_variables: int) -> Affine:
    """Return the functions of all parts, one part below the other."""
    if not parts:
        return constant(0.0, 0, n_variables)
    return Affine(
        sparse.csr_array(sparse.vstack([part.matrix for part in parts], format="csr")),
        np.concatenate([part.offset for part in parts]),
    )


def interleave(*parts: Affine) -> Affine:
    """Return the first function of each part, then the second of each, and so on."""
    n_variables = parts[0].matrix.shape[1]
    order = np.arange(len(parts) * len(parts[0])).reshape(len(parts), -1).T.ravel()
    return stack(list(parts), n_variables)[order]
