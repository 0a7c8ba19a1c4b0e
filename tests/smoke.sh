#!/usr/bin/env bash
# Try a wheel in two new environments at once: with the oldest versions of its dependencies, and with
# the newest.
#
#     tests/smoke.sh python3 dist/shortlist-0.1.0-cp311-cp311-linux_x86_64.whl
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
try oldest "$here/../oldest.txt" &
oldest=$!
try newest "$scratch/anything.txt"
wait "$oldest"
