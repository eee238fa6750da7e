"""likewise beside its peers, on real data: every figure of docs/benchmarks.md is made here.

tasks/      what is optimised: pools of measured objects, functions, expectations, permutations
methods/    who optimises: likewise and each peer, one file each, behind the same ask and tell
run         one run: a task, a method, a seed
store       results, one small JSON file per task, each run by itself
measures    regret, its mean over the run, intervals, the overall ratio
suite       the whole list, in order, resumable
footing     likewise and BoTorch, each with the other's view of molecules
report      docs/benchmarks.md out of the results
reliability/    processes killed at random moments, and what is there afterwards: docs/reliability.md
"""

import os

# Before numpy and torch are imported: every method gets one BLAS thread, or times would compare thread counts.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
