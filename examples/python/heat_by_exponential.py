# SPDX-License-Identifier: BSD-3-Clause
"""exp(t A) b without a time step: heat on a grid by one Chebyshev series in the matrix.

The series needs about the root of t times the largest eigenvalue products for a given error, an explicit method t times
that eigenvalue.
"""
import matplotlib.pyplot as plt
import numpy as np

import furrow

n, t = 64, 20.0
A = furrow.generate(f"poisson2d:{n}")
b = np.zeros((n, n))
b[n // 2, n // 2] = 1.0

domain = furrow.chebyshev.bounds(A)
series = furrow.chebyshev.exponential(-t, domain)
u = series(furrow.Matrix(A)) @ b.ravel()
print(f"eigenvalues lie in [{domain[0]:.4f}, {domain[1]:.4f}]; {series.degree()} products")

euler, steps = b.ravel(), 4000
for _ in range(steps):
    euler = euler - (t / steps) * (A @ euler)
print(f"largest u {u.max():.6f}; explicit Euler with {steps} products differs by {abs(u - euler).max():.1e}")
assert abs(u - euler).max() < 1e-3 * u.max() and u.min() > -1e-12

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
figure.colorbar(left.imshow(u.reshape(n, n), cmap="magma"), label="u")
right.semilogy(abs(series.coef))
right.set(xlabel="degree", ylabel="coefficient of the series")
figure.savefig("heat_by_exponential.png")
