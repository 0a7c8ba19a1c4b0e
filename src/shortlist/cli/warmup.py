"""`shortlist warmup`: compile the solver ahead of time, for images and clusters."""

from __future__ import annotations

from time import process_time

import typer

from .terminal import working


def warmup() -> None:
    """Compile the solver's kernels now, so that the first solve does not have to wait.

    The machine code is kept on disk, for this processor and these versions, in the folder that is
    printed. Whoever runs shortlist must be able to write there: other users compile for themselves.
    The environment variable NUMBA_CACHE_DIR names another folder.
    """
    from numba import config

    from ..solver.compilation import machine_code_folder, ready_kernels

    if config.DISABLE_JIT:
        typer.echo("NUMBA_DISABLE_JIT is set: kernels run as plain Python, nothing is compiled.")
        return
    started = process_time()
    with working("Looking for compiled kernels"):
        n_compiled = ready_kernels()
    seconds = process_time() - started
    folder = machine_code_folder()
    size = sum(path.stat().st_size for path in folder.glob("*.nb[ic]"))
    done = (
        f"{n_compiled} kernels were compiled in {seconds:.0f} CPU seconds"
        if n_compiled
        else "All kernels are compiled already"
    )
    typer.echo(f"{done}; their machine code, {size / 2**20:.0f} MB, is in {folder}.")
