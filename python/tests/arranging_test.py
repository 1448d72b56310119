# SPDX-License-Identifier: BSD-3-Clause
"""Scaling and reordering: scale= and reorder=."""
import numpy as np
import pytest
import scipy.sparse as sp

import furrow


def hidden_convection():
    """Convection on a grid, rows and columns shuffled apart and scaled by 10^-3 to 10^3."""
    A = furrow.generate("convection2d:15:20").tocsr()
    rng = np.random.default_rng(3)
    n = A.shape[0]
    scales = [sp.diags_array(10.0 ** rng.integers(-3, 4, n)) for _ in range(2)]
    A = (scales[0] @ A @ scales[1]).tocsr()[rng.permutation(n)][:, rng.permutation(n)]
    return sp.csr_array(A)


@pytest.mark.parametrize("how", ["solve", "Solver", "gmres", "Matrix", "direct"])
def test_matching_and_order_solve_what_is_hidden(how):
    A = hidden_convection()
    b = A @ np.ones(225)
    named = {"scale": "matching", "reorder": "rcm", "rtol": 1e-12}
    if how == "gmres":
        assert not furrow.gmres(A, b, M="ilu:0:natural", restart=50, rtol=1e-12, maxiter=4).success
        r = furrow.gmres(A, b, M="ilu:0:natural", restart=50, **named)
    elif how == "Solver":
        r = furrow.Solver(A, "bicgstab", "ilut", **named).solve(b)
    elif how == "Matrix":
        r = furrow.solve(furrow.Matrix(A), b, solver="gmres:50", M="jacobi", **named)
    elif how == "direct":
        r = furrow.solve(A, b, solver="direct", **named)
        assert r.factors["entries"] > A.nnz and r.factors["expected"] > A.nnz, r.factors
        assert r.to_dict()["factor_entries_expected"] == r.factors["expected"]
    else:
        r = furrow.solve(A, b, solver="gmres:50", M="jacobi", **named)
        assert r.factors is None
    assert r.success, r
    assert np.linalg.norm(b - A @ r.x) <= 1.1e-12 * np.linalg.norm(b)
    d = r.to_dict()
    assert (d["scale"], d["reorder"]) == ("matching", "rcm") and "change places" in d["arranged"]


def test_scaling_follows_new_values_and_what_callbacks_see_is_in_order():
    A = hidden_convection()
    b = A @ np.ones(225)
    seen = []
    M = furrow.Matrix(A)
    s = furrow.Solver(M, "gmres:50", "jacobi", scale="matching", reorder="rcm", callback=lambda x: seen.append(x.copy()))
    assert s.solve(b).success
    sizes = [np.linalg.norm(b - A @ x) for x in seen]
    assert sizes[-1] <= 1e-7 * np.linalg.norm(b) and sizes[0] <= np.linalg.norm(b)
    M.update_values(A.data * np.linspace(1, 2, A.nnz))
    r = s.solve(b)
    assert r.success and np.linalg.norm(b - M.tocsr() @ r.x) <= 1.1e-8 * np.linalg.norm(b)


def test_scaling_is_refused_in_a_sentence():
    A = furrow.generate("poisson2d:6")
    for words, said in [({"solver": "cg", "scale": "matching"}, "needs a symmetric matrix"),
                        ({"scale": "mc64"}, "there is no scaling 'mc64'"), ({"reorder": "amd"}, "there is no order 'amd'"),
                        ({"solver": "gmres", "M": lambda r: r, "scale": "symmetric"}, "operator of yours")]:
        with pytest.raises(furrow.UsageError, match=said):
            furrow.solve(A, np.ones(36), **words)
