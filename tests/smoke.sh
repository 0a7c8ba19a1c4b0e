#!/usr/bin/env bash
# Try a wheel in two new environments at once: with the oldest versions of its dependencies, where
# the kernels are compiled, and with the newest, where they run as plain Python, since all other
# tests compile them.
#
#     tests/smoke.sh python3 dist/shortlist-0.1.0-py3-none-any.whl
set -euo pipefail

python=$1
wheel=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH VIRTUAL_ENV

try() { # name, constraints
    "$python" -m venv "$scratch/$1"
    "$scratch/$1/bin/python" -m pip install --quiet --constraint "$2" "$wheel[explore,report]"
    (cd "$scratch" && "$scratch/$1/bin/python" "$here/smoke.py")
}

touch "$scratch/anything.txt"
NUMBA_CACHE_DIR="$scratch/kernels" try oldest "$here/../oldest.txt" &
oldest=$!
# Integers that wrap around, as they should, warn in plain Python.
NUMBA_DISABLE_JIT=1 PYTHONWARNINGS=ignore::RuntimeWarning try newest "$scratch/anything.txt"
wait "$oldest"
