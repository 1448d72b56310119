# SPDX-License-Identifier: BSD-3-Clause
"""A matrix that is not stored, and a preconditioner of one's own.

The operator is a biharmonic plate plus a spring; the preconditioner solves its main part exactly by a sine transform.
"""
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import scipy.fft
from scipy.sparse.linalg import LinearOperator

import furrow

n = 48
wave = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
Vector = npt.NDArray[np.float64]
laplacian = wave[:, None] + wave[None, :]  # eigenvalues
stiffness = 1 + 0.5 * np.random.default_rng(1).random((n, n))  # of the springs


def delta(u: Vector) -> Vector:
    v = 4 * u
    v[1:] -= u[:-1]
    v[:-1] -= u[1:]
    v[:, 1:] -= u[:, :-1]
    v[:, :-1] -= u[:, 1:]
    return v


def plate(x: Vector) -> Vector:
    u = x.reshape(n, n)
    return (delta(delta(u)) + 1e-2 * stiffness * u).ravel()


def plate_without_springs(r: Vector) -> Vector:
    spectrum = scipy.fft.dstn(r.reshape(n, n), type=1) / (laplacian**2 + 1e-2)
    return np.asarray(scipy.fft.idstn(spectrum, type=1)).ravel()


A = LinearOperator((n * n, n * n), matvec=plate, dtype=float)
b = np.ones(n * n)
plain = furrow.cg(A, b, rtol=1e-8)
better = furrow.cg(A, b, rtol=1e-8, M=plate_without_springs)
print("without a preconditioner:", plain)
print("with it:                 ", better)
assert better.success and better.iterations < plain.iterations / 10

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
figure.colorbar(left.imshow(better.x.reshape(n, n), cmap="viridis"), label="deflection")
right.semilogy(plain.history, label="no preconditioner")
right.semilogy(better.history, label="a sine transform")
right.set(xlabel="iteration", ylabel="relative residual")
right.legend()
figure.savefig("matrix_free.png")
