"""How fast, how far and in how much memory; `python -m benchmarks.run`, see README.md.

Everything is measured on one thread. The libraries read these variables when they are loaded, so
they are set here, before the first of them is imported; processes started later inherit them.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
