# SPDX-License-Identifier: BSD-3-Clause
"""Where arrays lie, and what is refused: nothing here needs a GPU."""
import copy
import os
import traceback

import numpy as np
import pytest
import scipy.sparse as sp
from gpu_kit import PROBLEM, without_gpu

import furrow
from furrow import _gpu


class shown:
    """A vector as a library shows one that lies on a GPU. There is no memory behind it: who reads it crashes."""

    dtype, nbytes, ndim = np.dtype(float), 3200, 1

    def __init__(self, shape=(400,), ordinal=0, strides=None):
        self.shape, self.ordinal = shape, ordinal
        self.__class__.__cuda_array_interface__ = property(lambda self: {
            "shape": self.shape, "typestr": "<f8", "data": (0x7f0000000000, False), "version": 3, "strides": strides,
            "stream": 1})

    def __dlpack_device__(self):
        return (2, self.ordinal)


class pinned(shown):
    """In host memory that a GPU can reach."""

    def __dlpack_device__(self):
        return (3, 0)


class managed(shown):
    def __dlpack_device__(self):
        return (13, 1)


class only_interface:
    """As older libraries show theirs."""

    shape, dtype, ndim = (400,), np.dtype(float), 1
    __cuda_array_interface__ = {"shape": (400,), "typestr": "<f8", "data": (0x7f0000000000, False), "version": 2}


def test_places_of_arrays():
    assert _gpu.ordinal_of(shown(ordinal=2)) == 2
    assert _gpu.ordinal_of(pinned()) is None
    assert _gpu.ordinal_of(managed()) == 1
    assert _gpu.ordinal_of(only_interface()) == 0
    for host in (np.ones(3), [1.0], 2.0, None, sp.eye_array(3), "jacobi", len):
        assert _gpu.ordinal_of(host) is None


def calls(grid, x):
    """Every call that takes an array, with x as it, and the name that complaints give to it."""
    A, b = grid
    P, s = furrow.Matrix(A), furrow.Solver(A)
    square = copy.copy(x)
    square.shape = (400, 400)
    return {
        "x": [lambda: P @ x, lambda: P.T @ x, lambda: P.apply(x), lambda: furrow.gemv(np.eye(400), x),
              lambda: furrow.chebyshev.Series([1, 2], (0, 8))(A) @ x, lambda: P.rmatvec(x)],
        "out": [lambda: P.apply(b, out=x), lambda: s.solve(b, out=x), lambda: furrow.gemv(np.eye(400), b, out=x)],
        "b": [lambda: s.solve(x), lambda: furrow.cg(A, x), lambda: furrow.solve(A, x), lambda: furrow.gmres(A, x),
              lambda: furrow.lsmr(A, x)],
        "x0": [lambda: s.solve(b, x0=x), lambda: furrow.cg(A, b, x)],
        "A": [lambda: furrow.Matrix(square), lambda: furrow.solve(square, b), lambda: furrow.Solver(square)],
    }


@without_gpu
@pytest.mark.parametrize("x", [shown(), managed(), only_interface()], ids=["shown", "managed", "only_interface"])
def test_an_array_on_a_gpu_that_cannot_be_used_is_named(x, grid):
    for name, all_calls in calls(grid, x).items():
        for call in all_calls:
            with pytest.raises(furrow.DeviceError, match=f"^{name} lies on .*gpu|^{name} lies on a GPU, but") as e:
                call()
            assert "\n" not in str(e.value)


@without_gpu
def test_a_device_that_is_not_there(grid):
    A, b = grid
    for call in (lambda: furrow.cg(A, b, device="gpu"), lambda: furrow.solve(A, b, device="gpu:1"),
                 lambda: furrow.Matrix(A, device="gpu"), lambda: furrow.Solver(A, device="gpu"),
                 lambda: furrow.gemv(np.eye(400), b, device="gpu"),
                 lambda: furrow.chebyshev.bounds(A, device="gpu"), lambda: furrow.chebyshev.density(A, device="gpu")):
        with pytest.raises(furrow.DeviceError, match="^no GPU can be used: " + PROBLEM[:20]):
            call()


@pytest.mark.parametrize("device, error, words", [
    ("tpu", furrow.UsageError, "there is no device 'tpu': choose auto, cpu, gpu or gpu:N"),
    ("gpu:x", furrow.UsageError, "there is no device 'gpu:x'"),
    (0, TypeError, 'device is an int: give None, "cpu", "gpu" or "gpu:1"'),
])
def test_what_is_no_device(device, error, words, grid):
    A, b = grid
    for call in (lambda: furrow.cg(A, b, device=device), lambda: furrow.Matrix(A, device=device),
                 lambda: furrow.gemv(np.eye(400), b, device=device)):
        with pytest.raises(error, match=words):
            call()


def test_the_cpu_may_be_named(grid):
    A, b = grid
    r = furrow.cg(A, b, device="cpu")
    assert r.device == r.to_dict()["device"] == furrow.Matrix(A, device="cpu").device == "cpu"
    assert (r.x == furrow.cg(A, b, device="auto").x).all()
    assert "on the cpu" in repr(furrow.Solver(A, "cg", device="cpu"))


def test_a_report_of_a_device_that_is_elsewhere(grid, tmp_path):
    r = furrow.cg(*grid)
    r._told["ordinal"] = 7
    r.report(tmp_path / "solve.html")
    assert "gpu:7" in (tmp_path / "solve.html").read_text(encoding="utf-8")


def test_a_report_of_rungs_that_ran_elsewhere(grid, tmp_path):
    r = furrow.solve(*grid)
    for rung in r._report["rungs"]:
        assert rung["device"] == "cpu"
        rung["device"] = "gpu:7 (NVIDIA H200)"
    r.report(tmp_path / "solve.html")
    assert "gpu:7" in (tmp_path / "solve.html").read_text(encoding="utf-8")


def test_the_default_is_set_once(grid, monkeypatch):
    A, b = grid
    monkeypatch.setattr(furrow, "default_device", "tpu")
    with pytest.raises(furrow.UsageError, match="tpu"):
        furrow.cg(A, b)
    assert furrow.cg(A, b, device="cpu").success
    monkeypatch.setattr(furrow, "default_device", "cpu")
    assert furrow.Matrix(A).device == "cpu" and furrow.solve(A, b).device == "cpu"


def test_a_matrix_keeps_its_device(grid):
    A, b = grid
    P = furrow.Matrix(A)
    monkeyed = dict(_gpu._known)
    _gpu._known["gpu"] = _gpu._known["gpu:0"] = 0  # as on a machine that has one: nothing is asked of it
    try:
        for call in (lambda: furrow.Solver(P, device="gpu"), lambda: furrow.cg(P, b, device="gpu"),
                     lambda: furrow.chebyshev.bounds(P, device="gpu")):
            with pytest.raises(furrow.DeviceError, match='A is a Matrix on the cpu, but device="gpu": leave device out'):
                call()
        for name, what, call in (("x", "this Matrix", lambda: P @ shown()),
                                 ("b", "this Solver", lambda: furrow.Solver(P).solve(shown())),
                                 ("out", "this Solver", lambda: furrow.Solver(P).solve(b, out=shown())),
                                 ("b", "A, a Matrix,", lambda: furrow.cg(P, shown()))):
            with pytest.raises(furrow.DeviceError, match=f'^{name} lies on gpu:0, but {what} lives on the cpu: make that '
                                                         f'by device="gpu:0", or give {name} in host memory$'):
                call()
    finally:
        _gpu._known.clear()
        _gpu._known.update(monkeyed)


@pytest.fixture
def one_gpu(monkeypatch):
    """A machine with gpu:0 and gpu:1, of which nothing is asked."""
    for name, ordinal in (("gpu", 0), ("gpu:0", 0), ("gpu:1", 1)):
        monkeypatch.setitem(_gpu._known, name, ordinal)


def test_arrays_in_several_memories(one_gpu, grid):
    A, b = grid
    there, other = shown(), shown(ordinal=1)
    on_gpu = shown((400, 400))
    on_gpu.ndim = 2
    for words, call in (
            ("A lies on gpu:0 and b in host memory: give both in one memory", lambda: furrow.cg(on_gpu, b)),
            ("A lies on gpu:0 and b on gpu:1: give both in one memory", lambda: furrow.cg(on_gpu, other)),
            ('b lies on gpu:0, but device="cpu": leave device out, or give b there',
             lambda: furrow.cg(A, there, device="cpu")),
            ('b lies on gpu:0, but device="gpu:1": leave device out, or give b there',
             lambda: furrow.cg(A, there, device="gpu:1")),
            ('A lies on gpu:0, but device="gpu:1"', lambda: furrow.Matrix(on_gpu, device="gpu:1")),
            ("A lies on gpu:0 and x in host memory", lambda: furrow.gemv(on_gpu, b)),
            ("x lies on gpu:0 and A in host memory", lambda: furrow.gemv(np.eye(400), there))):
        with pytest.raises(furrow.DeviceError, match="^" + words):
            call()


def test_a_library_that_nothing_is_known_of(one_gpu, grid):
    A, _ = grid
    with pytest.raises(TypeError, match="b is a .*shown: on a GPU give an array of CuPy, PyTorch or JAX, such as"):
        furrow.cg(A, shown())


def test_operators_of_numpy_stay_on_the_cpu(one_gpu, grid):
    A, b = grid
    op = sp.linalg.aslinearoperator(A)
    for name, call in (("A", lambda: furrow.cg(op, b, device="gpu")), ("A", lambda: furrow.cg(op, shown())),
                       ("M", lambda: furrow.Solver(A, "cg", M=op, device="gpu")),
                       ("A", lambda: furrow.minres(op, b, shift=1.0, device="gpu"))):
        with pytest.raises(furrow.UsageError, match=f'^{name} is a LinearOperator of SciPy, .*: say device="cpu"'):
            call()


def test_operators_of_cupy_multiply_its_arrays_alone(grid):
    class LinearOperator:
        __module__ = "cupyx.scipy.sparse.linalg._interface"

    class mine(LinearOperator):
        shape, dtype = (400, 400), np.dtype(float)

        def matvec(self, x):
            raise AssertionError("the operator was called")

    A, b = grid
    for name, call in (("A", lambda: furrow.cg(mine(), b)), ("M", lambda: furrow.cg(A, b, M=mine())),
                       ("A", lambda: furrow.Solver(mine(), "cg").solve(b)),
                       ("A", lambda: furrow.minres(mine(), b, shift=1.0))):
        with pytest.raises(TypeError, match=f"^{name} is a LinearOperator of CuPy, .*, and b an array of numpy: give b as"):
            call()


def test_a_child_of_a_fork_has_no_gpu(monkeypatch):
    monkeypatch.setattr(_gpu, "_gpus", [2])  # as one whose driver was asked
    child = os.fork()
    if child == 0:
        os._exit(_gpu.count())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _gpu.count() == 2


def test_a_child_of_a_fork_says_that_it_has_no_gpu(one_gpu, grid):
    A, b = grid
    P = furrow.Matrix(A)
    s = furrow.Solver(P, "cg")
    on_gpu = shown((400, 400))
    on_gpu.ndim = 2

    def asks_for_it():
        s._where = 0  # as one that was made on a GPU
        for call in (lambda: furrow.cg(A, b, device="gpu"), lambda: furrow.Matrix(A, device="gpu:1"),
                     lambda: furrow.gemv(np.eye(400), b, device="gpu"), lambda: furrow.solve(A, b, devices="all"),
                     lambda: furrow.solve_batch([(A, b)], device="gpu"), lambda: furrow.solve(A, b, devices=[0]),
                     lambda: furrow.cg(on_gpu, b), lambda: s.solve(b), lambda: _gpu.check_asked(None, 0)):
            with pytest.raises(furrow.DeviceError,
                               match='a child of os.fork has no GPU: begin it by spawn, or say device="cpu"$'):
                call()
        assert furrow.cg(A, b).success and furrow.cg(A, b, device="cpu").success and (P @ b == A @ b).all()
        assert len(furrow.devices()) == 1 or _gpu.count() == 0

    child = os.fork()
    if child == 0:
        try:
            asks_for_it()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not _gpu._forked


def test_a_gpu_whose_memory_others_hold_is_left_out_with_one_warning(monkeypatch, grid):
    def full(ordinal):
        raise furrow.MemoryError("gpu:0 has no memory left")

    monkeypatch.setattr(_gpu, "_gpus", [1])
    monkeypatch.setattr(_gpu._core, "copied_bytes", full)
    large = furrow.generate("poisson2d:330")
    x = np.ones(large.shape[0])
    with pytest.warns(furrow.SolveWarning, match="^gpu:0 is left out, and the CPU computes: gpu:0 has no memory left") as heard:
        for _ in range(2):
            assert furrow.cg(large, x, maxiter=3).device == "cpu"
    assert len(heard) == 1


def test_no_gpu_is_asked_for_what_does_not_pay(monkeypatch, grid):
    def ask():
        raise AssertionError("the driver was asked")

    monkeypatch.setattr(_gpu, "count", ask)
    A, b = grid
    assert furrow.cg(A, b).device == "cpu"
    large = furrow.generate("poisson2d:330")
    assert large.nnz >= _gpu.PAYS_FROM
    x = np.ones(large.shape[0])
    assert furrow.cg(large, x, M=lambda r: r / 4, maxiter=3).device == "cpu"
    assert furrow.Solver(large, "cg", M="lu").device == "cpu"
    assert furrow.Matrix(large).device == "cpu"
    with pytest.raises(AssertionError):
        furrow.cg(large, x)
