# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation on a square, and how fast the answer came.

-u'' = 1 inside, u = 0 on the edge, on a grid of 100 by 100 points. The largest u of the continuous problem is 0.073671.
"""
import matplotlib.pyplot as plt
import numpy as np

import furrow

n = 100
h = 1 / (n + 1)
x = np.arange(1, n + 1)
second = furrow.generate(f"poisson2d:{n}")  # 4 on the diagonal, -1 for each neighbour
r = furrow.solve(second, np.full(n * n, h * h), rtol=1e-10)
u = r.x.reshape(n, n)

print(r)
print(f"solved by {r.solver} with {r.precond}, stored as {r.format}: {r.reason}")
print(f"largest u: {u.max():.5f}")
assert r.success and abs(u.max() - 0.073671) < 1e-4
print("residual after every tenth iteration:", *(f"{v:.1e}" for v in r.history[::10]))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
figure.colorbar(left.imshow(u, extent=(0, 1, 0, 1), cmap="viridis"), label="u")
r.plot(right)
figure.savefig("poisson.png")
