# SPDX-License-Identifier: BSD-3-Clause
"""A sequence of systems with one pattern: heat that spreads through a material that changes with its temperature.

(I + dt K(u)) u_next = u: each step has new values in the same places. The solver is set up once, takes the new values
over, and begins each solve with the answer before.
"""
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

import furrow

n, dt = 60, 0.2
L = furrow.generate(f"poisson2d:{n}")
eye = sp.eye_array(n * n, format="csr")
pattern = sp.csr_array(eye + dt * L)
rows = np.repeat(np.arange(n * n), np.diff(pattern.indptr))
on_diagonal = rows == pattern.indices


def values(u: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """I + dt K(u) in the places of the pattern; the conductivity between two points is 1 + the mean of their u."""
    k: npt.NDArray[np.float64] = -dt * (1 + (u[rows] + u[pattern.indices]) / 2)
    k[on_diagonal] = 0
    outflow = np.bincount(rows, k, n * n)
    k[on_diagonal] = 1 - outflow
    return k


u = np.zeros(n * n)
u[n * n // 2 + n // 2] = 100.0
total = u.sum()
P = furrow.Matrix(pattern)
solver = furrow.Solver(P, "cg", M="jacobi", rtol=1e-10)
iterations, middle = [], [u.reshape(n, n)[n // 2]]
for _ in range(10):
    P.update_values(values(u))
    r = solver.solve(u, x0=u)
    assert r.success
    iterations.append(r.iterations)
    u = r.x
    middle.append(u.reshape(n, n)[n // 2])
print("iterations of each step:", iterations)
print(f"largest temperature {u.max():.3f}, sum {u.sum():.6f} of {total}")
assert abs(u.sum() - total) < 1e-6 * total  # nothing is lost

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for step in (1, 2, 4, 7, 10):
    axis.plot(middle[step], label=f"after {step}")
axis.set(xlabel="x", ylabel="temperature in the middle row")
axis.legend()
figure.savefig("sequence.png")
