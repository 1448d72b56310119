# SPDX-License-Identifier: BSD-3-Clause
"""Everything that a caller can give: the right result, or the right exception, and the inputs as they were."""
import hashlib

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import furrow
from furrow._libraries import Torch
from furrow._placing import _pays
from furrow._tensors import rows_of

MAY_REFUSE = {"bcsr", "dia", "ell", "hdia", "stencil"}  #: what would take too much memory for them, unless a parameter says so
FORMATS = ["auto", *furrow.show_config()["formats"], "dia:1000", "hdia:1000", "ell:1000", "stencil:0"]


@st.composite
def matrices(draw):
    rows, cols = draw(st.integers(0, 12)), draw(st.integers(0, 12))
    lengths = draw(st.lists(st.integers(0, 8 if cols else 0), min_size=rows, max_size=rows))
    index = draw(st.sampled_from([np.int32, np.int64]))
    value = draw(st.sampled_from([np.float32, np.float64]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    nnz = int(indptr[-1])
    indices = rng.integers(0, max(cols, 1), nnz).astype(index)  # in any order, some twice
    data = np.round(rng.standard_normal(nnz), 2).astype(value)
    A = sp.csr_array((rows, cols), dtype=value)
    A.indptr, A.indices, A.data = indptr, indices, data
    return A


def print_of(A):
    return [hashlib.sha256(part.tobytes()).hexdigest() for part in (A.indptr, A.indices, A.data)]


@given(matrices(), st.sampled_from(FORMATS))
def test_products_are_those_of_scipy(A, format):
    before = print_of(A)
    try:
        P = furrow.Matrix(A, format=format)
    except furrow.InputError as e:
        assert format in MAY_REFUSE and ("choose another format, or" in str(e) or "use csr" in str(e))
        return
    assert P.shape == A.shape and P.dtype == A.dtype
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(A.shape[1]).astype(A.dtype), rng.standard_normal(A.shape[0]).astype(A.dtype)
    wide = sp.csr_array((A.data.astype(float), A.indices, A.indptr), shape=A.shape)
    size = sp.csr_array((abs(A.data).astype(float), A.indices, A.indptr), shape=A.shape)
    unit = 16 * np.finfo(A.dtype).eps
    assert (abs((P @ x) - wide @ x) <= unit * (size @ abs(x))).all()
    assert (abs((P.T @ y) - wide.T @ y) <= unit * (size.T @ abs(y))).all()
    assert (P @ x).dtype == A.dtype
    assert print_of(A) == before


@given(matrices())
def test_new_values_are_a_new_matrix(A):
    P = furrow.Matrix(A)
    other = A.copy()
    other.data = 3 * A.data + 1
    P.update_values(other.data)
    x = np.ones(A.shape[1], A.dtype)
    assert (P @ x).tobytes() == (furrow.Matrix(other) @ x).tobytes()


class Table:
    """What NumPy makes an array of, with a product of its own, as a DataFrame of pandas."""

    def __init__(self, entries):
        self.entries, self.shape = entries, entries.shape

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.entries, dtype)

    def __matmul__(self, x):
        raise AssertionError("the entries are there")


def test_what_numpy_makes_an_array_of_is_a_matrix(grid):
    A, b = grid
    dense = A.toarray()
    assert (furrow.cg(Table(dense), b, M="jacobi").x == furrow.cg(dense, b, M="jacobi").x).all()
    r = furrow.solve(Table(dense.astype(np.float32)), b.astype(np.float32), rtol=1e-4)
    assert r.x.dtype == np.float32 and r.converted["from"] == "dense"
    assert (furrow.solve_batch([(Table(dense), b)])[0].x == furrow.solve(A, b).x).all()
    assert (furrow.Matrix(Table(dense)) @ b == furrow.Matrix(A) @ b).all()
    with pytest.raises(TypeError, match="values of object are not supported"):
        furrow.solve(Table(dense.astype(object)), b)


def broken(change):
    A = sp.csr_array(np.array([[1.0, 2, 0], [0, 3, 0], [4, 0, 5]]))
    change(A)
    return A


@pytest.mark.parametrize("change, words", [
    (lambda A: A.indices.__setitem__(1, 7), "column 7 of a matrix of 3 x 3"),
    (lambda A: A.indices.__setitem__(0, -1), "column -1"),
    (lambda A: A.indptr.__setitem__(1, 4), "offsets do not decrease"),
    (lambda A: A.indptr.__setitem__(3, 9), "ends with 9"),
    (lambda A: A.indptr.__setitem__(0, 1), "begins with 1"),
    (lambda A: setattr(A, "data", A.data[:3]), "5 column indices and 3 values"),
    (lambda A: setattr(A, "indptr", A.indptr[:3]), "3 elements for a matrix of 3 rows"),
])
def test_broken_rows_are_named(change, words):
    with pytest.raises(furrow.InputError, match=words):
        furrow.Matrix(broken(change))
    with pytest.raises(furrow.InputError, match=words):
        furrow.Solver(broken(change))


@pytest.mark.parametrize("dtype", [complex, np.complex64, np.longdouble, object, np.float16, "S3"])
def test_types_that_are_not_taken(dtype, grid):
    A, b = grid
    for call in (lambda: furrow.Matrix(np.eye(3).astype(dtype)), lambda: furrow.Matrix(A) @ b.astype(dtype),
                 lambda: furrow.cg(A, b.astype(dtype))):
        with pytest.raises(TypeError, match="not supported|for furrow.gemv alone"):
            call()


@pytest.mark.parametrize("dtype, result", [(bool, float), (np.int8, float), (np.uint64, float), (">f8", float),
                                           (">f4", np.float32), (np.float32, np.float32)])
def test_types_that_are_converted(dtype, result):
    A = np.array([[2, 1], [1, 2]]).astype(dtype)
    P = furrow.Matrix(A)
    assert P.dtype == result
    np.testing.assert_array_equal(P @ np.array([1, 2], np.float32), A.astype(float) @ [1, 2])


def test_single_with_double_is_double():
    A = np.float32([[1 / 3, 0], [0, 1]])
    y = furrow.Matrix(A) @ np.array([np.pi, 1])
    assert y.dtype == float and y[0] == float(np.float32(1 / 3)) * np.pi
    assert furrow.cg(A, np.ones(2)).x.dtype == float
    assert furrow.cg(A, np.ones(2, np.float32)).x.dtype == np.float32
    with pytest.raises(furrow.UsageError, match="more than float32 can hold"):
        furrow.cg(A, np.ones(2, np.float32), rtol=1e-9)


def test_vectors_of_any_layout(grid):
    A, _ = grid
    P = furrow.Matrix(A)
    x = np.random.default_rng(1).standard_normal(400)
    expected = P @ x
    gaps = np.zeros(800)
    gaps[::2] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    for same in (gaps[::2], x[::-1][::-1], x.astype(">f8"), frozen, list(x), np.asfortranarray(x[:, None])[:, 0]):
        assert (P @ same).tobytes() == expected.tobytes()
    X = np.asfortranarray(np.stack([x, 2 * x], 1))
    np.testing.assert_array_equal(P @ X, np.stack([expected, 2 * expected], 1))
    np.testing.assert_array_equal(x @ P, P.T @ x)


@pytest.mark.parametrize("out", [np.empty(400, np.float32), np.empty(800)[::2], np.empty(399), np.empty((400, 1)),
                                 np.empty(400, ">f8"), [0.0] * 400])
def test_an_output_is_never_converted(out, grid):
    A, b = grid
    with pytest.raises((TypeError, furrow.UsageError), match="out"):
        furrow.Matrix(A).apply(b, out=out)
    with pytest.raises((TypeError, furrow.UsageError), match="out"):
        furrow.Solver(A).solve(b, out=out)
    with pytest.raises((TypeError, furrow.UsageError), match="out"):
        furrow.gemv(np.eye(400), b, out=out)


def test_an_output_that_cannot_be_written(grid):
    A, b = grid
    out = np.empty(400)
    out.flags.writeable = False
    with pytest.raises(furrow.UsageError, match="writeable"):
        furrow.Matrix(A).apply(b, out=out)


def test_sizes_that_do_not_fit(grid):
    A, b = grid
    for call in (lambda: furrow.Matrix(A) @ b[:5], lambda: furrow.cg(A, b[:5]), lambda: furrow.cg(A, b, b[:5]),
                 lambda: furrow.Matrix(A).apply(b[:5]), lambda: furrow.Matrix(A).update_values(b),
                 lambda: furrow.gemv(np.eye(3), b)):
        with pytest.raises(furrow.UsageError):
            call()
    with pytest.raises(furrow.InputError, match="square"):
        furrow.cg(A[:5], b)


@pytest.mark.parametrize("where", ["A", "b"])
def test_nan_is_told(where, grid):
    A, b = grid
    A, b = A.copy(), b.copy()
    (A.data if where == "A" else b)[3] = np.nan
    with pytest.warns(furrow.SolveWarning):
        assert furrow.cg(A, b).info == -3


@pytest.mark.parametrize("make", [sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array, sp.csr_matrix,
                                  lambda A: A.toarray()])
def test_other_formats_are_converted_and_that_is_told(make, grid, tmp_path):
    A, b = grid
    other = make(A)
    form = getattr(other, "format", "dense")
    r = furrow.cg(other, b, M="jacobi")
    assert (r.x == furrow.cg(A, b, M="jacobi").x).all()
    r.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    if form == "csr":
        assert r.converted is None and "converted" not in r.to_dict() and "<dt>converted" not in page
        return
    assert r.converted["from"] == form and 0 < r.converted["seconds"] < 1
    assert r.to_dict()["converted"] == r.converted
    assert f"<dt>converted</dt>\n<dd>from {form}, in " in page
    s = furrow.Solver(other)
    assert [s.solve(b).converted is None for _ in range(2)] == [False, True]
    assert furrow.Matrix(other).converted["from"] == form
    assert furrow.cg(furrow.Matrix(other), b).converted is None
    assert furrow.cg(other, b, M=lambda r: r / 4).converted["from"] == form
    assert furrow.solve(other, np.stack([b, 2 * b], 1)).converted["from"] == form
    assert furrow.solve_batch([(other, b), (A, b)])[0].converted["from"] == form


@given(st.sampled_from([float, np.float32, np.float16]), st.integers(0, 9), st.integers(0, 9), st.booleans(),
       st.sampled_from(["C", "F", "gaps", "turned"]))
def test_dense_products(dtype, rows, cols, trans, layout):
    A = np.random.default_rng(rows + 10 * cols).standard_normal((rows, cols)).astype(dtype)
    if layout == "F":
        A = np.asfortranarray(A)
    elif layout == "gaps":
        A = np.concatenate([A, A], 1)[:, :cols]
    elif layout == "turned":
        A = A[::-1]
    x = np.ones(A.shape[0 if trans else 1], float if dtype is float else np.float32)
    wide = A.astype(float)
    np.testing.assert_allclose(furrow.gemv(A, x, trans=trans), (wide.T if trans else wide) @ x,
                               rtol=1e-13 if dtype is float else 1e-5, atol=1e-13 if dtype is float else 1e-5)


MASKED = np.ma.masked_array(np.ones(4), mask=[True, False, False, False])


@pytest.mark.parametrize("call", [
    lambda: furrow.solve(np.eye(4), MASKED), lambda: furrow.solve(np.eye(4), np.ones(4), x0=MASKED),
    lambda: furrow.solve(np.eye(4), MASKED, ranks=2), lambda: furrow.solve_batch([(np.eye(4), MASKED)]),
    lambda: furrow.solve(np.ma.masked_array(np.eye(4), mask=np.eye(4) == 0), np.ones(4)),
    lambda: furrow.Matrix(np.eye(4)) @ MASKED, lambda: MASKED @ furrow.Matrix(np.eye(4)),
    lambda: furrow.Matrix(np.eye(4)).apply(MASKED),
    lambda: furrow.Matrix(sp.csr_array(np.eye(4))).update_values(MASKED)])
def test_masked_elements_are_refused(call):
    with pytest.raises(furrow.InputError, match=r"masked elements?: say what (they are|it is), as .*\.filled\(0\) does"):
        call()


def test_a_mask_that_masks_nothing_is_an_array():
    b = np.ma.masked_array(np.arange(4.0))
    assert furrow.solve(np.eye(4), b).x.tolist() == [0, 1, 2, 3]
    assert (furrow.Matrix(np.eye(4)) @ b).tolist() == [0, 1, 2, 3]


def broken_parts(form, **parts):
    A = sp.csr_array(np.array([[1.0, 2, 0, 0], [0, 3, 0, 0], [4, 0, 5, 0], [0, 0, 0, 6]])).asformat(form)
    for name, value in parts.items():
        setattr(A, name, value)
    return A


@pytest.mark.parametrize("A, words", [
    (broken_parts("coo", coords=(np.array([0, 1, 9, 2, 2, 3]), np.array([0, 1, 1, 0, 2, 3]))), "row 9 of a matrix of 4 x 4"),
    (broken_parts("coo", coords=(np.array([0, 1, 1, 2, 2, 3]), np.array([0, -1, 1, 0, 2, 3]))), "column -1 of"),
    (broken_parts("csc", indices=np.array([0, 2, 0, 1, 2, 7], np.int32)), "row 7 of"),
    (broken_parts("csc", indptr=np.array([0, 2, 1, 5, 6], np.int32)), "A.indptr does not fit a csc matrix of 4 x 4"),
    (broken_parts("csc", indptr=np.array([0, 2, 4, 5, 60], np.int32)), "A.indptr does not fit a csc matrix of 4 x 4"),
    (broken_parts("bsr", indices=np.array([0, 0, 5], np.int32), indptr=np.array([0, 1, 3], np.int32),
                  data=np.ones((3, 2, 2))), "block column 5 of")])
def test_places_that_scipy_would_follow_out_of_its_arrays_are_named(A, words):
    with pytest.raises(furrow.InputError, match=words):
        furrow.Matrix(A)


def test_indices_are_whole_numbers():
    A = sp.csr_array(np.eye(3))
    A.indices = np.array([0, 1.5, 2])
    with pytest.raises(TypeError, match="A.indices holds float64: give whole numbers"):
        furrow.Matrix(A)


@pytest.mark.parametrize("form", ["csc", "coo", "bsr", "dia", "lil", "dok"])
def test_values_in_another_order_are_refused(form):
    A = sp.csr_array(np.array([[1.0, 2], [3, 4]]))
    P = furrow.Matrix(A.asformat(form))
    with pytest.raises(furrow.UsageError, match=f"made from {form}, .* make it from A.tocsr"):
        P.update_values(np.array([1.0, 3, 2, 4]))


@pytest.mark.parametrize("error, words, call", [
    (TypeError, "solver is a NoneType: give a name", lambda A, b: furrow.solve(A, b, solver=None)),
    (TypeError, "format is a NoneType", lambda A, b: furrow.solve(A, b, format=None)),
    (TypeError, "kernel is an int", lambda A, b: furrow.Matrix(A, kernel=5)),
    (TypeError, "scale is a NoneType", lambda A, b: furrow.solve(A, b, scale=None)),
    (TypeError, "reorder is a bool", lambda A, b: furrow.solve(A, b, reorder=True, ranks=2)),
    (TypeError, "atol is a NoneType: give a number", lambda A, b: furrow.cg(A, b, atol=None)),
    (TypeError, "alpha is a str", lambda A, b: furrow.Matrix(A).apply(b, alpha="2")),
    (TypeError, "maxiter is a str", lambda A, b: furrow.solve(A, b, maxiter="9")),
    (furrow.UsageError, "maxiter = 2.5 must be a whole number", lambda A, b: furrow.solve(A, b, maxiter=2.5)),
    (furrow.UsageError, "maxiter = inf must be a whole number", lambda A, b: furrow.solve_batch([(A, b)], maxiter=np.inf)),
    (furrow.UsageError, "maxiter = 0 must be at least 1", lambda A, b: furrow.solve_batch([(A, b)], maxiter=0)),
    (furrow.UsageError, r"M is of shape \(2, 2\), but A of \(3, 3\)", lambda A, b: furrow.cg(A, b, M=np.eye(2))),
    (TypeError, "what M made is a NoneType", lambda A, b: furrow.cg(A, b, M=lambda r: None)),
    (TypeError, "b is a NoneType: give an array of numbers", lambda A, b: furrow.solve(A, None)),
    (TypeError, "b is a csr_array: give a dense array", lambda A, b: furrow.solve(A, sp.csr_array(A))),
    (TypeError, "x is a NoneType", lambda A, b: furrow.Matrix(A) @ None),
    (TypeError, "the new values are a csr_array: give those of the rows alone", lambda A, b: furrow.Matrix(
        sp.csr_array(A)).update_values(sp.csr_array(A))),
    (TypeError, "A is a Matrix, whose entries are not seen: give a sparse or dense matrix, as A.tocsr\\(\\) makes it", lambda A, b: furrow.Matrix(furrow.Matrix(A)))])
def test_arguments_of_a_wrong_kind_are_named(error, words, call):
    with pytest.raises(error, match=words):
        call(np.eye(3), np.ones(3))


def test_many_iterations_are_a_number_like_any_other():
    assert furrow.solve(np.eye(3), np.ones(3), maxiter=10**30).success
    assert furrow.solve(np.eye(3), np.ones(3), maxiter=1e4).success


def test_a_tensor_in_host_memory_is_counted_by_its_elements():
    """PyTorch's `size` is a function, unlike NumPy's; the class here has of a tensor what is asked for."""
    class Tensor:
        __module__ = "torch"
        is_cuda, layout, shape = False, "torch.strided", (2, 2)

        def numel(self):
            return 4

        def size(self):
            return self.shape

    assert not _pays(Tensor(), "cg", None)


def test_tensors_of_pytorch_in_host_memory(grid):
    torch = pytest.importorskip("torch")
    A, b = grid
    dense = torch.tensor(A.toarray())
    for tensor in (dense, dense.to_sparse_csr(), dense.to_sparse_coo()):
        assert furrow.solve(tensor, b).success
    identity = torch.eye(len(b), dtype=torch.float64)
    for tensor in (identity, identity.to_sparse_csr(), identity.to_sparse_coo()):
        assert furrow.solve(A, b, solver="cg", M=tensor).success


def test_negated_views_of_pytorch_are_what_they_show(grid):
    torch = pytest.importorskip("torch")
    A, b = grid
    dense, x = torch.tensor(A.toarray()), torch.tensor(b)
    negative = torch._neg_view(x)
    P, s = furrow.Matrix(A), furrow.Solver(A, "cg")
    assert (P @ negative == -(P @ b)).all() and (s.solve(negative).x == -s.solve(b).x).all()
    assert (furrow.Matrix(torch._neg_view(dense)) @ b == -(A @ b)).all()
    P.update_values(torch._neg_view(torch.tensor(A.data)))
    assert (P @ b == -(A @ b)).all()
    home = Torch("x", None)  # what happens on a GPU, in host memory
    assert not home.enter(negative, "x").is_neg() and (home.enter(negative, "x") == -x).all()
    home.check_out(x, (400,), np.dtype(float))
    with pytest.raises(furrow.UsageError, match="^out is a negated view, .*: give a tensor of its own$"):
        home.check_out(negative, (400,), np.dtype(float))
    indptr, indices, data = map(torch.tensor, (A.indptr, A.indices, A.data))
    csr = torch.sparse_csr_tensor(indptr, indices, torch._neg_view(data), A.shape)
    assert (furrow.Matrix(csr) @ b == -(A @ b)).all()
    for made in (rows_of(csr, "A"), rows_of(torch._neg_view(dense), "A")):
        assert not made[2].is_neg() and (made[2].numpy() == -A.data).all()


def test_tensors_of_pytorch_that_nothing_is_made_of(grid):
    torch = pytest.importorskip("torch")
    A, b = grid
    dense, x = torch.tensor(A.toarray()), torch.tensor(b)
    hybrid = torch.sparse_coo_tensor([[0, 1]], dense[:2], dense.shape)
    for kind, wrong in (("sparse_bsr", dense.to_sparse_bsr(2)), ("sparse_bsc", dense.to_sparse_bsc(2)), ("hybrid", hybrid),
                        ("nested", torch.nested.nested_tensor([x, x[:3]]))):
        for call in (lambda A: furrow.solve(A, b), furrow.Matrix, furrow.Solver, lambda A: rows_of(A, "A")):
            with pytest.raises(TypeError, match=f"^A is a {kind} tensor: give csr, csc, coo or dense|^A is a nested tensor"):
                call(wrong)
        with pytest.raises(TypeError, match=f"^b is a {kind} tensor: give a dense one"):
            furrow.Solver(A).solve(wrong)
    for kind, wrong in (("sparse_csr", x.reshape(400, 1).to_sparse_csr()), ("sparse_coo", x.to_sparse())):
        for name, call in (("b", lambda b: furrow.solve(A, b)), ("b", furrow.Solver(A).solve),
                           ("x", lambda x: furrow.gemv(A.toarray(), x)), ("x0", lambda x0: furrow.cg(A, b, x0))):
            with pytest.raises(TypeError, match=f"^{name} is a {kind} tensor: give a dense one"):
                call(wrong)
    with pytest.raises(TypeError, match="^the new values are a Tensor: give those of the rows alone"):
        furrow.Matrix(A).update_values(torch.tensor(A.data).to_sparse())
    with pytest.raises(furrow.UsageError, match="^A has 1 axes: a matrix has 2"):
        furrow.Matrix(x.to_sparse())
    for dtype, words in ((torch.float8_e4m3fn, "tensors of float8_e4m3fn are not supported: convert them by .to"),
                         (torch.bfloat16, "tensors of bfloat16 are for furrow.gemv on a GPU alone: convert them by .to")):
        for call in (lambda: furrow.solve(dense.to(dtype), b), lambda: furrow.Matrix(dense.to(dtype)),
                     lambda: furrow.solve(A, x.to(dtype)), lambda: furrow.gemv(dense.to(dtype), b),
                     lambda: Torch("b", None).vector(x.to(dtype), 400, "b")):
            with pytest.raises(TypeError, match="^" + words):
                call()
    with pytest.raises(TypeError, match="^out holds bfloat16, but the result is float64"):
        Torch("b", None).check_out(x.to(torch.bfloat16), (400,), np.dtype(float))


def test_a_result_without_a_preconditioner_names_none(grid):
    A, b = grid
    shown = repr(furrow.solve(A, b * np.nan))
    assert "element 1 of b is nan" in shown and "with ," not in shown
