# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of a wrong type: a sentence that names them, before anything is computed."""
import copy
import pickle

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import furrow
from furrow import chebyshev, scipy_compat

A, B = furrow.generate("poisson2d:8"), np.ones(64)
P, SQUARE = furrow.Matrix(A), np.array([[1.0, 2.0], [3.0, 4.0]])


class Elsewhere:
    """What says that it lies on a GPU."""

    def __init__(self, said):
        self.said = said

    @property
    def __cuda_array_interface__(self):
        return self.said


@pytest.mark.skipif("gpu:0" in furrow.devices(), reason="there is a GPU")
def test_memory_of_a_gpu_is_not_read_without_one():
    lying = Elsewhere({"shape": (64,), "typestr": "<f8", "data": (B.ctypes.data, False), "version": 3})
    for call in (lambda: P @ lying, lambda: furrow.solve(A, lying), lambda: furrow.solve(A, B, x0=lying),
                 lambda: furrow.Matrix(A).update_values(lying), lambda: furrow.gemv(SQUARE, lying)):
        with pytest.raises(furrow.DeviceError, match="lies on a GPU, but"):
            call()


@pytest.mark.parametrize("call, words", [
    (lambda: furrow.gemv(SQUARE, [1.0, 1.0], trans="N"), "trans is a str: give True or False"),
    (lambda: furrow.Matrix(A, tune="no"), "tune is a str: give True or False"),
    (lambda: furrow.solve(A, B, tune="no"), "tune is a str: give True or False"),
    (lambda: furrow.cg(A, B, assume_symmetric="no"), "assume_symmetric is a str: give True or False"),
    (lambda: furrow.solve_batch([(A, B)], return_exceptions="no"), "return_exceptions is a str: give True or False"),
    (lambda: furrow.Matrix(A) @ (B + 1j), "^x: values of complex128 are not supported: multiply the real and the imaginary part apart"),
    (lambda: furrow.gemv(np.eye(3) * 1j, np.ones(3)), "^A: values of complex128 are not supported: multiply the real and"),
    (lambda: furrow.write("x.npy", B + 1j), "^x: values of complex128 are not supported: write the real and the imaginary part apart"),
    (lambda: furrow.write("x.mtx", A * 1j), "^A: values of complex128 are not supported: write the real and the imaginary part apart"),
    (lambda: furrow.solve(A, B + 1j), "^b: values of complex128 are not supported: solve for the real and the imaginary part as one"),
    (lambda: furrow.solve_batch(3), r"systems is an int: give pairs \(A, b\)"),
    (lambda: furrow.solve(A, B, residuals=()), "residuals is a tuple: give a list"),
    (lambda: furrow.solve(A, B, ranks=2, residuals=np.zeros(3)), "residuals is a ndarray: give a list"),
    (lambda: furrow.gmres(A, B, residuals=np.zeros(3)), "residuals is a ndarray: give a list"),
    (lambda: furrow.gmres(A, B, restart="5"), "restart is a str: give a whole number"),
    (lambda: furrow.gmres(A, B, callback=3), "callback is an int: give a function"),
    (lambda: furrow.lsmr(A, B, damp=None), "damp is a NoneType: give a number"),
    (lambda: furrow.solve(A, B, devices=3), "devices is an int: give"),
    (lambda: furrow.Solver(A, dtype="x"), "dtype is 'x': give numpy.float64"),
    (lambda: furrow.Solver(A, dtype=complex), "dtype is <class 'complex'>: give numpy.float64"),
    (lambda: furrow.Matrix(A, device=B), "device is a ndarray: give None"),
    (lambda: P @ B.astype("M8[s]"), r"values of datetime64\[s\] are not supported"),
    (lambda: P @ Elsewhere("x"), "__cuda_array_interface__ of a Elsewhere has no \"data\""),
    (lambda: furrow.solve(A, Elsewhere({"data": (-5, False)})), "__cuda_array_interface__ of a Elsewhere has no"),
    (lambda: furrow.threads(1.5), "n is a float: give a whole number"),
    (lambda: furrow.write("x.mtx", A, 3), "comment is an int: give a str"),
    (lambda: furrow.solve(A, B, checkpoint="c", every="a"), "every is a str: give a number"),
    (lambda: furrow.solve(A, B, checkpoint="c", every=[1]), "every is a list: give a number"),
    (lambda: chebyshev.fit(lambda x: None), "what f made is a NoneType: give an array of numbers"),
    (lambda: np.asarray(chebyshev.Series([1.0])), "a Series is no array: take its coef"),
    (lambda: chebyshev.fit(3), "f is an int: give a function of arrays"),
    (lambda: chebyshev.fit(np.exp, (0, 1), "a"), "tolerance is a str: give a number"),
    (lambda: chebyshev.fit(np.exp, 3), r"domain is 3: give its two ends, as \(0, 1\)"),
    (lambda: chebyshev.Series([1.0], "ab"), "domain is 'ab': give its two ends"),
    (lambda: chebyshev.Series([1.0]) * "a", "what a series is multiplied by is a str: give a number"),
    (lambda: chebyshev.bounds(A, steps=1.5), "steps is a float: give a whole number"),
    (lambda: chebyshev.bounds(A, seed=None), "seed is a NoneType: give a whole number"),
    (lambda: chebyshev.density(A, (0, 8), moments="a"), "moments is a str: give a whole number"),
    (lambda: chebyshev.density(A, (0, 8), vectors=2.0), "vectors is a float: give a whole number"),
    (lambda: furrow.read(3), "file is an int: give the name of a file"),
    (lambda: furrow.solve(A, B, checkpoint=3), "checkpoint is an int: give the name of a file"),
    (lambda: furrow.solve(A, B, resume=3.0), "resume is a float: give the name of a file"),
    (lambda: furrow.Matrix(A).update_values(A), "the new values are a csr_array: give"),
    (lambda: chebyshev.exponential("1", (0, 1)), "t is a str: give a number"),
    (lambda: scipy_compat.cg(A, B, rtol="a"), "rtol is a str: give a number"),
    (lambda: scipy_compat.lsmr(A, B, btol=None), "btol is a NoneType: give a number"),
])
def test_a_wrong_type_is_named(call, words):
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("call, words", [
    (lambda: furrow.threads(2**70), "n = 1180591620717411303424 must lie between 0 and"),
    (lambda: furrow.threads(4096), "n = 4096 must lie between 0 and 4095"),
    (lambda: furrow.generate("poisson2d:3\0x"), r"there is no generator 'poisson2d:3\\x00x'"),
    (lambda: furrow.cg(A, B, M=""), "there is no preconditioner ''"),
    (lambda: furrow.solve(A, B, ranks=2, M=""), "there is no preconditioner ''"),
    (lambda: furrow.solve_batch([(A, B)], M=""), "there is no preconditioner ''"),
    (lambda: furrow.Matrix(A).__init__(A), "this Matrix is made already"),
    *[(call, 'M="local:ilu" is made of the block of each rank: give ranks') for call in (
        lambda: furrow.cg(A, B, M="local:ilu"), lambda: furrow.solve(A, B, M="local:ilu"),
        lambda: furrow.solve_batch([(A, B)], M="local:ilu"))],
    *[(call, r"x is a single number, .*: say A @ x, not numpy.dot\(A, x\)") for call in (
        lambda: np.dot(P, B), lambda: P * 2, lambda: P @ np.float64(2))],
    (lambda: P.apply(np.ones((64, 2))), r"asks for \(64,\): use @ for a block of vectors"),
    *[(call, "keep.MTX: a report is written as .html") for call in (
        lambda: furrow.solve(A, B).report("keep.MTX"), lambda: furrow.solve(A, B).report(b"keep.MTX"))],
    (lambda: chebyshev.fit(np.exp, tolerance=1), "a tolerance of 1 is met by anything: it must be below 1"),
    (lambda: furrow.solve(aslinearoperator(A), B, solver="direct"), "direct factors the entries, .*: give M"),
    (lambda: chebyshev.fit(lambda x: x[1:]), r"f made an array of shape \(16,\) of one of \(17,\)"),
    (lambda: setattr(chebyshev.Series([1.0]), "coef", np.eye(2)), "coef has 2 axes"),
    *[(call, "the name of a file is empty") for call in (
        lambda: furrow.read(""), lambda: furrow.write("", B), lambda: furrow.write("", A), lambda: furrow.solve(A, B).report(""),
        lambda: furrow.solve(A, B, checkpoint=""), lambda: furrow.solve(A, B, resume=""))],
    (lambda: chebyshev.bounds(A, seed=-1), "seed = -1 must lie between 0 and"),
    (lambda: chebyshev.density(A, (0, 8), moments=2**70), "moments = 1180591620717411303424 must lie between 1 and"),
    (lambda: scipy_compat.lsmr(A, B, x0=B[:3]), r"x0 is of shape \(3,\), but the matrix asks for \(64,\)"),
    (lambda: furrow.cg(A, B, M=[[1.0]]), r"M is of shape \(1, 1\), but A of \(64, 64\)"),
    (lambda: furrow.gmres(A, B, callback_type="y"), 'Unknown callback_type: .*give "x"'),
])
def test_a_number_out_of_range_is_named(call, words):
    with pytest.raises(furrow.UsageError, match=words):
        call()


def test_gemv_names_an_element_that_no_float32_holds():
    narrow, largest = SQUARE.astype(np.float32), float(np.finfo(np.float32).max)
    with pytest.raises(furrow.InputError, match=r"element 2 of x is -1e\+300, too large for float32, .*: give A in float64"):
        furrow.gemv(narrow, np.array([1.0, -1e300], ">f8"))
    assert furrow.gemv(np.eye(2, dtype="f4"), [largest, -largest]).tolist() == [largest, -largest]
    assert furrow.gemv(SQUARE, [0.0, 1e300]).tolist() == [2e300, 4e300]
    assert np.isinf(furrow.gemv(narrow, [1.0, np.inf])).all()


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("value, word", [(1e300, "large"), (-3.5e38, "large"), (1e-60, "small"), (-7e-46, "small")])
def test_a_factor_that_no_float32_holds_is_named(name, value, word):
    narrow, x = SQUARE.astype(np.float32), np.ones(2, np.float32)
    P, wide = furrow.Matrix(narrow), furrow.Matrix(SQUARE)
    for call, what in ((P.apply, "x"), (lambda *given, **rest: furrow.gemv(narrow, *given, **rest), "A")):
        with pytest.raises(furrow.UsageError, match=f"^{name} = .* is too {word} for float32, .*: give {what} in float64$"):
            call(x, out=np.ones(2, np.float32), **{name: value})
        for fine in (0.0, 3.4e38, 1e-45):
            call(x, out=np.ones(2, np.float32), **{name: fine})
    for call in (lambda **rest: P.apply(np.ones(2), **rest), lambda **rest: wide.apply(x, **rest),
                 lambda **rest: furrow.gemv(SQUARE, x, **rest)):
        y = call(out=np.ones(2), **{name: value})
        assert np.isfinite(y).all() and y.any()
    assert np.isinf(P.apply(x, alpha=np.inf)).all()


@pytest.mark.parametrize("choice", [{"format": "ell"}, {"format": "nonsense"}, {"kernel": "nonsense"}, {"tune": True}])
def test_a_choice_of_formats_is_refused_where_there_is_none(choice):
    """A `Matrix` has its format, an operator has nothing to store."""
    word, f = *choice, lambda r: r / 4
    for call in (lambda: furrow.cg(P, B, **choice), lambda: furrow.Solver(P, "gmres:10", **choice),
                 lambda: furrow.lsmr(P, B, **choice), lambda: furrow.solve(P, B, M=f, **choice)):
        with pytest.raises(furrow.UsageError, match=rf"A is a Matrix, which has its format .*: give {word} to the Matrix"):
            call()
    for call in (lambda: furrow.cg(aslinearoperator(A), B, **choice), lambda: furrow.solve(P.T, B, **choice)):
        with pytest.raises(furrow.UsageError, match=f"A has no entries to store: leave {word} out"):
            call()


def test_choices_of_formats_are_obeyed_where_there_are_some():
    narrow = furrow.Matrix(A.astype(np.float32), format="ell")
    assert (narrow.format, furrow.cg(narrow, B).format, furrow.solve(P, B, format="ell").format) == ("ell",) * 3
    for call in (lambda **o: furrow.Matrix(A, **o), lambda **o: furrow.solve(A, B, **o), lambda **o: furrow.cg(A, B, M=P, **o)):
        with pytest.raises(furrow.UsageError, match="tune helps to choose, and format and kernel leave nothing to choose"):
            call(tune=True, format="csr", kernel="rows")


@pytest.mark.parametrize("call, name", [
    (lambda x: furrow.solve(x, [1.0, 2.0]), "A"), (lambda x: furrow.Matrix(x), "A"), (lambda x: furrow.Solver(x), "A"),
    (lambda x: furrow.solve(A, x), "b"), (lambda x: furrow.Solver(A).solve(x), "b"), (lambda x: furrow.gmres(A, x), "b"),
    (lambda x: furrow.cg(A, B, M=x), "M"), (lambda x: P @ x, "x"), (lambda x: chebyshev.fit(lambda _: x), "what f made")])
def test_lists_that_are_no_array_are_named(call, name):
    with pytest.raises(furrow.InputError, match=f"^{name} holds lists that differ in length"):
        call([[1.0, 2.0], [3.0]])


def test_the_number_of_threads_is_a_number():
    n = furrow.threads()
    assert n > 0 and n + 1 > n and f"{n:d}" == str(n) == repr(n) and list(range(9))[n - n] == 0


def test_a_copy_of_the_number_of_threads_sets_none():
    n = furrow.threads()
    with furrow.threads(int(n) + 1) as more:
        kept = pickle.dumps({"threads": more})
        furrow.threads(int(n))
        for again in (copy.copy(more), copy.deepcopy([more])[0], pickle.loads(kept)["threads"]):
            assert type(again) is int and again == n + 1 and furrow.threads() == n


def test_numbers_and_truths_of_numpy_serve():
    assert furrow.gemv(SQUARE, [1.0, 1.0], trans=np.True_).tolist() == [4.0, 6.0]
    assert furrow.gemv(SQUARE, [1.0, 1.0], trans=np.int64(1)).tolist() == [4.0, 6.0]
    assert furrow.Matrix(A, tune=np.False_).nnz == A.nnz
    assert furrow.gmres(A, B, restart=np.int64(5)).success
    before = int(furrow.threads())
    with furrow.threads(np.int64(1)):
        assert furrow.threads() == 1
    assert furrow.threads() == before


@pytest.mark.parametrize("one, words", [(P, "a Matrix is neither copied nor pickled: pickle what tocsr"),
                                        (furrow.Solver(P), "a Solver is neither copied nor pickled: pickle its A")])
def test_what_cannot_be_pickled_says_what_can(one, words):
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=words):
            call(one)


def test_names_of_files_may_be_bytes(tmp_path):
    file = bytes(tmp_path / "a.mtx")
    furrow.write(file, A)
    assert furrow.read(file).shape == A.shape and furrow.info(file)["shape"] == A.shape


def test_a_name_may_come_out_of_an_array():
    """An element of an array of strings is a string, and has a shape."""
    for M in np.array(["jacobi", "ic0"]):
        assert furrow.cg(A, B, M=M).precond == furrow.Solver(A, np.str_("cg"), M).precond == M
