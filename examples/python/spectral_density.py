# SPDX-License-Identifier: BSD-3-Clause
"""How the eigenvalues of a matrix are spread, without computing one of them.

Moments of random vectors, two for each product, beside the eigenvalues that are known for this matrix.
"""
import matplotlib.pyplot as plt
import numpy as np

import furrow

n = 60
A = furrow.generate(f"poisson2d:{n}")
density = furrow.chebyshev.density(A, (-0.01, 8.01), moments=200, vectors=8)

wave = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
known = np.sort((wave[:, None] + wave[None, :]).ravel())
print("    x   per unit   below x    known")
for x in np.linspace(0.5, 7.5, 8):
    below = density.count_below(x)
    exact = np.searchsorted(known, x)
    print(f"{x:5.2f} {density(x):10.1f} {below:9.1f} {exact:8d}")
    assert abs(below - exact) < 0.02 * n * n

grid = np.linspace(0.05, 7.95, 400)
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.hist(known, bins=40, range=(0, 8), weights=np.full(n * n, 5.0), alpha=0.4, label="known eigenvalues")
axis.plot(grid, [density(x) for x in grid], label="estimated from 8 random vectors")
axis.set(xlabel="x", ylabel="eigenvalues per unit", ylim=(0, 1500))
axis.legend(loc="upper left")
figure.savefig("spectral_density.png")
