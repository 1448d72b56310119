# SPDX-License-Identifier: BSD-3-Clause
"""From a file to an answer and its page: what is in it, what the library makes of it, and a verdict.

Give a Matrix Market file, also compressed, or a SuiteSparse archive; without one a file is made here.
"""
import sys

import matplotlib.pyplot as plt
import numpy as np

import furrow

if len(sys.argv) > 1:
    name = sys.argv[1]
else:
    name = "elasticity.mtx.gz"
    furrow.write(name, furrow.generate("elasticity3d:6"))

print(furrow.info(name))
A = furrow.read(name)
print(f"{A.origin}; {A.shape[0]} rows, {A.nnz} entries")

P = furrow.Matrix(A)
print(P)
print("chosen because:", P.reason)
print({key: P.stats[key] for key in ("row_min", "row_max", "lower_bandwidth", "diagonals", "norm_inf")})

b = A.b if A.b is not None else A @ np.ones(A.shape[0])
r = furrow.solve(A, b)
print(r)
if not r.success:
    print("info =", r.info, "status =", r.status)
r.report("solve.html")  # curve, picture of the matrix, times: one file to look at or to send
print("solve.html has all of it")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.spy(A, markersize=0.5)
r.plot(right)
figure.savefig("from_a_file.png")
