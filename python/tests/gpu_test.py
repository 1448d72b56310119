# SPDX-License-Identifier: BSD-3-Clause
"""A GPU: what is refused without one, and, where there is one, arrays of CuPy, PyTorch and JAX where they lie."""
import copy
import importlib
import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import furrow
from furrow import _core, _gpu

PROBLEM = _core.devices()["problem"]
HAS_GPU = len(furrow.devices()) > 1
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason=f"no GPU: {PROBLEM}")
without_gpu = pytest.mark.skipif(HAS_GPU, reason="the sentences of a machine without a GPU")


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
    (0, TypeError, 'device is a int: give None, "cpu", "gpu" or "gpu:1"'),
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


def test_what_python_multiplies_by_stays_on_the_cpu(one_gpu, grid):
    A, b = grid
    op = sp.linalg.aslinearoperator(A)
    for call in (lambda: furrow.cg(op, b, device="gpu"), lambda: furrow.cg(A, b, M=lambda r: r / 4, device="gpu"),
                 lambda: furrow.Solver(A, "cg", M=op, device="gpu")):
        with pytest.raises(furrow.UsageError, match='by Python, on the CPU alone: say device="cpu"'):
            call()


def test_a_child_of_a_fork_has_no_gpu(monkeypatch):
    monkeypatch.setattr(_gpu, "_gpus", [2])  # as one whose driver was asked
    child = os.fork()
    if child == 0:
        os._exit(_gpu.count())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _gpu.count() == 2


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
    assert furrow.Solver(large, "block_cg", M="none").device == "cpu"
    assert furrow.Matrix(large).device == "cpu"
    with pytest.raises(AssertionError):
        furrow.cg(large, x)


class Library:
    """CuPy, PyTorch or JAX, as far as tests need it."""

    def __init__(self, name):
        self.name = name
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take three quarters of the memory
        self.module = pytest.importorskip({"jax": "jax.numpy"}.get(name, name))
        if name == "jax":
            pytest.importorskip("cupy")
            importlib.import_module("jax").config.update("jax_enable_x64", True)

    def put(self, x):
        x = np.ascontiguousarray(x)
        return self.module.asarray(x, device="cuda") if self.name == "torch" else self.module.asarray(x)

    def get(self, x):
        if self.name == "torch":
            return x.cpu().numpy()
        return x.get() if self.name == "cupy" else np.asarray(x)

    def has(self, x):
        kind = {"cupy": "ndarray", "torch": "Tensor", "jax": "ndarray"}[self.name]
        return isinstance(x, getattr(self.module, kind)) and _gpu.ordinal_of(x) == 0

    def rows(self, A):
        """A CSR matrix of the library."""
        if self.name == "cupy":
            return importlib.import_module("cupyx.scipy.sparse").csr_matrix(sp.csr_matrix(A))
        if self.name == "torch":
            return self.module.sparse_csr_tensor(*(self.put(part) for part in (A.indptr, A.indices, A.data)),
                                                 size=A.shape)
        sparse = importlib.import_module("jax.experimental.sparse")
        return sparse.BCSR((self.put(A.data), self.put(A.indices), self.put(A.indptr)), shape=A.shape)


@pytest.fixture(params=["cupy", "torch", "jax"])
def library(request):
    if not HAS_GPU:
        pytest.skip(f"no GPU: {PROBLEM}")
    return Library(request.param)


def copied(f):
    before = _core.copied_bytes(0)
    f()
    return _core.copied_bytes(0) - before


def same(x, y):
    return np.asarray(x).tobytes() == np.asarray(y).tobytes()


@needs_gpu
def test_numpy_in_and_out(grid):
    A, b = grid
    P = furrow.Matrix(A, device="gpu")
    assert P.device == "gpu:0" and "on the gpu:0" in repr(P) and "gpu:0" in furrow.devices()
    for y, expected in ((P @ b, A @ b), (P @ np.stack([b, 2 * b], 1), np.stack([A @ b, 2 * (A @ b)], 1)),
                        (P.T @ b, A.T @ b), (b @ P, A.T @ b)):
        assert isinstance(y, np.ndarray) and y.shape == expected.shape
        np.testing.assert_allclose(y, expected, atol=1e-13)
    out = np.ones(400)
    assert P.apply(b, out=out, alpha=2, beta=3) is out
    np.testing.assert_allclose(out, 2 * (A @ b) + 3, atol=1e-13)
    for call in (furrow.cg, furrow.bicgstab, furrow.gmres, furrow.minres, furrow.solve, furrow.lsmr):
        r = call(A, b, rtol=1e-10, device="gpu")
        assert r.success and r.device == "gpu:0" and isinstance(r.x, np.ndarray)
        assert r.to_dict()["device"].startswith("gpu:0 (")
        np.testing.assert_allclose(r.x, 1, atol=1e-6)
    assert furrow.cg(P, b).device == "gpu:0"
    P.update_values(2 * A.data)
    np.testing.assert_allclose(P @ b, 2 * (A @ b), atol=1e-13)
    assert (P.tocsr() != 2 * sp.csr_array(A)).nnz == 0


@needs_gpu
def test_what_pays_goes_to_the_gpu():
    A = furrow.generate("poisson2d:330")
    b = A @ np.ones(A.shape[0])
    assert furrow.cg(A, b, maxiter=5).device == "gpu:0" and furrow.cg(A, b, maxiter=5, device="cpu").device == "cpu"


def test_products_where_they_lie(library, grid):
    A, _ = grid
    x = np.random.default_rng(1).standard_normal(400)
    X = np.random.default_rng(2).standard_normal((400, 3))
    P = furrow.Matrix(library.rows(A))
    assert P.device == "gpu:0" and P.shape == (400, 400) and P.nnz == A.nnz
    for multiply, given in ((lambda v: P @ v, x), (lambda v: P.T @ v, x), (P.rmatvec, x), (lambda v: P @ v, X),
                            (lambda v: P.T @ v, X), (P.apply, x)):
        multiply(library.put(given))  # the first one transposed makes the transpose
        there = library.put(given)
        results = []
        assert copied(lambda: results.append(multiply(there))) == 0
        y = results[0]
        assert library.has(y) and same(library.get(y), multiply(given))
        assert same(library.get(there), given)
    assert str(P @ library.put(x.astype(np.float32)))  # f32 with f64 is f64
    np.testing.assert_allclose(library.get(P @ library.put(np.arange(400))), A @ np.arange(400.0), atol=1e-10)


def test_solves_where_they_lie(library):
    A = furrow.generate("poisson2d:200")
    n = A.shape[0]
    b, guess = A @ np.ones(n), np.linspace(0, 1, n)
    s = furrow.Solver(library.rows(A), "cg", M="jacobi", rtol=1e-10)
    there_b, there_guess = library.put(b), library.put(guess)
    r, home = s.solve(there_b, x0=there_guess), s.solve(b, x0=guess)
    assert r.success and r.device == "gpu:0" and library.has(r.x)
    assert same(library.get(r.x), home.x) and r.iterations == home.iterations
    assert same(library.get(there_b), b) and same(library.get(there_guess), guess)
    np.testing.assert_allclose(library.get(r.x), 1, atol=1e-6)


def test_vectors_do_not_pass_the_host(library):
    """What does is residuals, 33 kB for every few steps."""
    A = furrow.generate("poisson2d:700")
    n = A.shape[0]
    s = furrow.Solver(library.rows(A), "cg", M="jacobi", maxiter=30)
    b = library.put(np.random.default_rng(1).standard_normal(n))
    s.solve(b, x0=b)
    assert copied(lambda: s.solve(b)) < 8 * n and copied(lambda: s.solve(b, x0=b)) < 8 * n
    assert copied(lambda: s.solve(library.get(b))) > 8 * n


def test_functions_take_rows_and_vectors_from_there(library, grid):
    A, b = grid
    rows, there = library.rows(A), library.put(b)
    seen, residuals = [], []
    r = furrow.cg(rows, there, rtol=1e-10, M="jacobi", residuals=residuals,
                  callback=lambda x: seen.append(library.has(x)))
    assert r.success and library.has(r.x) and len(seen) == r.iterations and all(seen)
    assert len(residuals) == r.iterations + 1 and abs(residuals[0] / np.linalg.norm(b) - 1) < 1e-12
    for call in (furrow.solve, furrow.bicgstab, furrow.gmres, furrow.lsmr):
        r = call(rows, there, rtol=1e-10)
        assert r.success and library.has(r.x)
        np.testing.assert_allclose(library.get(r.x), 1, atol=1e-6)
    assert library.has(furrow.cg(A, there).x)  # the matrix goes there
    assert library.has(furrow.cg(A, library.put(b[:, None])).x) and furrow.cg(A, library.put(b[:, None])).x.shape == (400, 1)
    with pytest.raises(furrow.DeviceError, match="A lies on gpu:0 and b in host memory"):
        furrow.cg(rows, b)
    with pytest.raises(furrow.DeviceError, match='b lies on gpu:0, but device="cpu"'):
        furrow.cg(A, there, device="cpu")
    with pytest.raises(furrow.DeviceError, match="x0 lies in host memory and b on gpu:0|x0 lies on gpu:0 and b in host"):
        furrow.cg(A, there, b)
    with pytest.raises(furrow.DeviceError, match="x lies on gpu:0, but this Matrix lives on the cpu: make that by"):
        furrow.Matrix(A) @ there


def test_several_right_hand_sides_where_they_lie(library, grid):
    A, b = grid
    B = np.stack([b, 2 * b, np.arange(400.0)], 1)
    s = furrow.Solver(library.rows(A), "cg", M="jacobi", rtol=1e-10)
    r, home = s.solve(library.put(B)), s.solve(B)
    assert r.success and library.has(r.x) and same(library.get(r.x), home.x)
    assert len(r.columns) == 3 and all(library.has(c.x) for c in r.columns)
    assert library.has(furrow.cg(A, library.put(B), library.put(B)).x)


@pytest.fixture(params=["cupy", "torch"])
def writable(request):
    if not HAS_GPU:
        pytest.skip(f"no GPU: {PROBLEM}")
    return Library(request.param)


def test_an_output_there_is_never_converted(writable, grid):
    A, b = grid
    P, s, there = furrow.Matrix(A, device="gpu"), furrow.Solver(A, "cg", device="gpu"), writable.put(b)
    out = writable.put(np.ones(400))
    assert P.apply(there, out=out, alpha=2, beta=3) is out
    np.testing.assert_allclose(writable.get(out), 2 * (A @ b) + 3, atol=1e-13)
    assert s.solve(there, out=out).x is out
    np.testing.assert_allclose(writable.get(out), 1, atol=1e-4)
    assert s.solve(out, out=out).success  # b is copied first
    for wrong, error, words in ((np.ones(400), furrow.DeviceError, "out lies in host memory and . on gpu:0"),
                                (writable.put(np.ones(400, np.float32)), TypeError, "out holds float32"),
                                (writable.put(np.ones(399)), furrow.UsageError, "out is of shape"),
                                (writable.put(np.ones(800))[::2], furrow.UsageError, "out must be contiguous")):
        for call in (lambda: P.apply(there, out=wrong), lambda: s.solve(there, out=wrong),
                     lambda: furrow.gemv(writable.put(np.eye(400)), there, out=wrong)):
            with pytest.raises(error, match=words.replace(" . ", " [xbA] ")):
                call()


def test_one_library_a_call(grid):
    if not HAS_GPU:
        pytest.skip(f"no GPU: {PROBLEM}")
    A, b = grid
    with pytest.raises(TypeError, match="x0 is a torch.Tensor and b an array of cupy: give both as arrays of one library"):
        furrow.cg(A, Library("cupy").put(b), Library("torch").put(b))


def test_layouts_there(writable):
    A = furrow.generate("poisson2d:20")
    P, x = furrow.Matrix(A, device="gpu"), np.random.default_rng(1).standard_normal(800)
    assert same(writable.get(P @ writable.put(x)[::2]), P @ np.ascontiguousarray(x[::2]))
    X = x.reshape(2, 400)
    assert same(writable.get(P @ writable.put(X).T), P @ X.T)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("trans", [False, True])
def test_dense_products_there(dtype, layout, trans):
    if not HAS_GPU:
        pytest.skip(f"no GPU: {PROBLEM}")
    torch = pytest.importorskip("torch")
    A = torch.arange(0, 30 * 50, device="cuda").reshape(30, 50).remainder(7).to(getattr(torch, dtype))
    A = {"rows": A, "columns": A.T.contiguous().T, "gaps": torch.cat([A, A], 1)[:, :50]}[layout]
    x = torch.arange(1.0, (30 if trans else 50) + 1, device="cuda",
                     dtype=torch.float64 if dtype == "float64" else torch.float32)
    wide = A.double().cpu().numpy()
    expected = (wide.T if trans else wide) @ x.double().cpu().numpy()
    results = []
    assert copied(lambda: results.append(furrow.gemv(A, x, trans=trans))) == 0
    y = results[0]
    assert y.is_cuda and y.dtype == x.dtype
    np.testing.assert_array_equal(y.cpu().numpy(), expected)  # small integers
    if dtype != "bfloat16":
        home = furrow.gemv(A.cpu().numpy(), x.cpu().numpy(), trans=trans, device="gpu")
        np.testing.assert_array_equal(home, expected)


def test_series_there(library, grid):
    A, b = grid
    p = furrow.chebyshev.exponential(-0.1, furrow.chebyshev.bounds(A, device="gpu"))
    P = furrow.Matrix(A, device="gpu")
    there = p(P) @ library.put(b)
    assert library.has(there) and same(library.get(there), p(P) @ b)
    np.testing.assert_allclose(library.get(there), p(A) @ b, atol=1e-12)
    d = furrow.chebyshev.density(P, (0, 8), moments=64)
    assert abs(d.count_below(4.0) - 200) < 10


@needs_gpu
def test_the_current_stream_is_honoured(grid):
    """What the stream holds comes first, and what comes later is behind: by a kernel that takes its time."""
    cupy = pytest.importorskip("cupy")
    A, b = grid
    late = cupy.RawKernel(r"""extern "C" __global__ void late(double* x, const double* from, int n) {
      const long long began = clock64();
      while (clock64() - began < 40000000) {}
      for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = from[i];
    }""", "late")
    P, s = furrow.Matrix(A, device="gpu"), furrow.Solver(A, "cg", M="jacobi", device="gpu")
    expected, answer = P @ b, s.solve(b).x
    source, x = cupy.asarray(b), cupy.zeros(400)
    P @ x, s.solve(source)
    cupy.cuda.Device().synchronize()
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null, cupy.cuda.Stream.ptds):
        for call, result in ((lambda: P @ x, expected), (lambda: s.solve(x).x, answer)):
            with stream:
                x.fill(0)
                late((1,), (256,), (x, source, 400))
                y = call()
                z = y + 0
                x.fill(0)  # the product has read it
            stream.synchronize()
            assert same(z.get(), result)


@needs_gpu
def test_torch_streams_are_honoured(grid):
    torch = pytest.importorskip("torch")
    A, b = grid
    P = furrow.Matrix(A, device="gpu")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = torch.zeros(400, dtype=torch.float64, device="cuda")
        torch.cuda._sleep(40_000_000)
        x += torch.as_tensor(b, device="cuda")
        y = (P @ x).clone()
    stream.synchronize()
    assert same(y.cpu().numpy(), P @ b)


@pytest.mark.skipif(len(furrow.devices()) < 3, reason="fewer than two GPUs")
def test_each_gpu_has_its_own(grid):
    cupy = pytest.importorskip("cupy")
    A, b = grid
    with cupy.cuda.Device(1):
        there = cupy.asarray(b)
    r = furrow.cg(A, there)
    assert r.success and r.device == "gpu:1" and r.x.device.id == 1 and cupy.cuda.Device().id == 0
    P = furrow.Matrix(A, device="gpu:1")
    assert same((P @ there).get(), P @ b)
    with pytest.raises(furrow.DeviceError, match="x lies on gpu:0, but this Matrix lives on the gpu:1"):
        P @ cupy.asarray(b)
    with pytest.raises(furrow.DeviceError, match="x0 lies on gpu:0, but this Solver lives on the gpu:1"):
        furrow.cg(A, there, cupy.asarray(b))


@needs_gpu
def test_threads_take_turns_without_a_deadlock(grid):
    """Each holds the GPU while it waits for the interpreter, and the interpreter while it asks for the GPU."""
    A, b = grid
    P, failed = furrow.Matrix(A, device="gpu"), []
    expected = P @ b

    def solve():
        s = furrow.Solver(A, "cg", device="gpu", callback=lambda x: None)
        for _ in range(5):
            if not s.solve(b).success:
                failed.append("solve")

    def multiply():
        for _ in range(300):
            if not same(P @ b, expected):
                failed.append("product")
        for _ in range(5):
            furrow.Matrix(A, device="gpu").tocsr()

    threads = [threading.Thread(target=f, daemon=True) for f in (solve, multiply, solve, multiply)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads) and not failed
