# SPDX-License-Identifier: BSD-3-Clause
"""What a preconditioner is told of the rows: coordinates= and block_starts=."""
import numpy as np
import pytest
import scipy.sparse.linalg as sla

import furrow


def cube(n):
    """elasticity3d:N and where its nodes are: x fastest, the face z = 0 is clamped and left out."""
    z, y, x = np.meshgrid(np.arange(1, n + 1), np.arange(n + 1), np.arange(n + 1), indexing="ij")
    return furrow.generate(f"elasticity3d:{n}"), np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)


def test_coordinates_save_iterations():
    A, points = cube(10)
    b = np.sin(np.arange(A.shape[0]))
    plain = furrow.solve(A, b, M="amg:sa", device="cpu")
    r = furrow.solve(A, b, M="amg:sa", coordinates=points, device="cpu")
    assert r.success and r.iterations < plain.iterations and "6 motions of rigid bodies" in r.to_dict()["precond_says"]
    single = np.asfortranarray(points.astype(np.float32))
    assert (furrow.solve(A, b, M="amg:sa", coordinates=single, device="cpu").x == r.x).all()
    kept = furrow.solve(furrow.Matrix(A), b, M="amg:sa", coordinates=points.tolist())  # in another format, perhaps
    np.testing.assert_allclose(kept.x, r.x, atol=1e-7 * np.abs(r.x).max())
    s = furrow.Solver(A, "cg", M="amg:sa", coordinates=points, device="cpu")
    assert s.solve(b).iterations == r.iterations


def test_coordinates_that_do_not_fit_are_refused():
    A, points = cube(3)
    b = np.ones(A.shape[0])
    wrong = points.astype(float)
    wrong[5, 1] = np.nan
    for what, M, said in [(points, "auto", "name it"), (points, "jacobi", "no use of coordinates"),
                          (points[1:], "amg:sa", "has 144 rows"), (wrong, "amg:sa", "coordinate 2 of node 6 is nan"),
                          (points.ravel(), "amg:sa", "of shape"), (points[:, :1], "amg:sa", "1 dimension"),
                          (points, lambda r: r, "operator of yours"), (points[:0], "amg:sa", "no coordinates")]:
        with pytest.raises(furrow.Error, match=said):
            furrow.solve(A, b, M=M, coordinates=what)
    with pytest.raises(TypeError):
        furrow.solve(A, b, M="amg:sa", coordinates=points * 1j)
    with pytest.raises(furrow.UsageError, match="none makes no use of coordinates"):
        furrow.solve(sla.aslinearoperator(A), b, coordinates=points)


def test_block_starts_say_where_blocks_start():
    A, b = furrow.generate("anisotropic2d:20:100"), np.ones(400)  # strong along its lines
    lines = np.arange(0, 400, 20)
    found = furrow.solve(A, b, solver="cg", M="block_jacobi", device="cpu")
    r = furrow.solve(A, b, solver="cg", M="block_jacobi", block_starts=lines, device="cpu")
    assert r.success and r.iterations < found.iterations
    assert "block_jacobi: 20 given blocks of 20 to 20 rows" == r.to_dict()["precond_says"]
    s = furrow.Solver(A, "cg", M="block_jacobi", block_starts=[*lines.tolist(), 400], device="cpu")
    assert (s.solve(b).x == r.x).all() and "with block_jacobi in" in repr(s)
    named = furrow.solve(A, b, solver="cg", M="block_jacobi:starts=" + ",".join(map(str, lines)), device="cpu")
    assert (named.x == r.x).all()


def test_block_starts_that_do_not_fit_are_refused():
    A, b = furrow.generate("poisson2d:10"), np.ones(100)
    for starts, M, said in [([0, 50, 50], "block_jacobi", "start 3 of block_jacobi is 50, after 50"),
                            ([0, 60, 101], "block_jacobi", "row 101 counted from 0, but the matrix has 100 rows"),
                            ([5, 60], "block_jacobi", "starts at row 5"), ([0], "block_jacobi", "has 100 rows"),
                            ([0, -3], "block_jacobi", "no list of rows"), ([], "block_jacobi", "no list of rows"),
                            ([[0, 3]], "block_jacobi", "no list of rows"), ([0, 2.5], "block_jacobi", "no list of rows"),
                            ([0, 50], "ilu", "M is another one"), ([0, 50], "auto", "M is another one"),
                            ([0, 50], None, "M is another one"), ([0, 50], A, "M is another one")]:
        with pytest.raises(furrow.Error, match=said):
            furrow.solve(A, b, solver="cg", M=M, block_starts=starts, device="cpu")


def test_nodes_are_counted_before_their_places_are_looked_at():
    A, points = cube(3)
    b = np.ones(A.shape[0])
    with pytest.raises(furrow.InputError, match=f"are those of 5 nodes in 3 dimensions, .*, but A has {len(b)} rows"):
        furrow.solve(A, b, M="amg:sa", coordinates=np.ones((5, 3)))
    with pytest.raises(furrow.InputError, match="all nodes are at one place"):
        furrow.solve(A, b, M="amg:sa", coordinates=np.ones_like(points))


def test_masked_elements_are_named():
    A, points = cube(3)
    b = np.ones(A.shape[0])
    with pytest.raises(furrow.InputError, match=r"coordinates has 3 masked elements: .*coordinates.filled\(0\)"):
        furrow.solve(A, b, M="amg:sa", coordinates=np.ma.masked_array(points, np.arange(points.size).reshape(-1, 3) < 3))
    starts = np.ma.masked_array(np.arange(0, len(b), 12), np.arange(0, len(b), 12) == 24)
    with pytest.raises(furrow.InputError, match="block_starts has 1 masked element"):
        furrow.solve(A, b, solver="cg", M="block_jacobi", block_starts=starts)
