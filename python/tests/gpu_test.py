# SPDX-License-Identifier: BSD-3-Clause
"""Where there is a GPU: arrays of CuPy, PyTorch and JAX where they lie."""
import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from gpu_kit import HAS_GPU, PROBLEM, Library, copied, library_of, needs_gpu, same

import furrow


@pytest.fixture(params=["cupy", "torch", "jax"])
def library(request):
    return library_of(request)


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
@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_small_systems_of_a_batch_share_a_launch(dtype, rtol):
    systems = [(furrow.generate(f"poisson2d:{n}").astype(dtype), np.ones(n * n, dtype)) for n in range(5, 45)]
    systems.append((furrow.generate("convection2d:12:10").astype(dtype), np.ones(144, dtype)))  # is factorised
    results = furrow.solve_batch(systems, rtol=rtol, device="gpu")
    for (A, b), r in zip(systems, results, strict=True):
        assert r.success and r.x.dtype == dtype and r.device == "gpu:0"
        assert np.linalg.norm(b - A @ r.x) <= 1.1 * rtol * np.linalg.norm(b)
        assert len(r.history) == r.iterations + 1
    assert {r.kernel for r in results[:-1]} == {"batch"} and results[-1].kernel != "batch"
    again = furrow.solve_batch(systems[::-1], rtol=rtol, device="gpu")[::-1]
    assert all(np.array_equal(one.x, other.x) for one, other in zip(results, again, strict=True))


@needs_gpu
def test_what_pays_goes_to_the_gpu():
    A = furrow.generate("poisson2d:330")
    b = A @ np.ones(A.shape[0])
    assert furrow.cg(A, b, maxiter=5).device == "gpu:0" and furrow.cg(A, b, maxiter=5, device="cpu").device == "cpu"


@needs_gpu
def test_coordinates_serve_there_too():
    A = furrow.generate("elasticity3d:8")
    z, y, x = np.meshgrid(np.arange(1, 9), np.arange(9), np.arange(9), indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    b = np.sin(np.arange(A.shape[0]))
    here, there = (furrow.solve(A, b, M="amg:sa", coordinates=points, device=device) for device in ("cpu", "gpu"))
    assert there.device == "gpu:0" and there.iterations == here.iterations
    assert "6 motions of rigid bodies" in there.to_dict()["precond_says"]


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


@needs_gpu
def test_a_long_chain_of_rows_is_left_behind_its_first_step():
    """A triangular solve of so many levels takes tens of milliseconds, whatever the bytes."""
    n, tri = 20000, lambda m, d: sp.diags_array([np.full(m - 1, -1.0), np.full(m, d), np.full(m - 1, -1.0)], offsets=[-1, 0, 1])
    strip = sp.csr_array(sp.kronsum(tri(2, 1.01), tri(n, 2.0)))
    r = furrow.cg(strip, np.ones(2 * n), rtol=1e-12, M="ic0", device="gpu", monitor=lambda step: True)
    assert r.status == "interrupted" and r.iterations <= 1


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
    return library_of(request)


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
    several = np.stack([expected, 2 * expected, 0 * expected], 1)
    for X in (torch.stack([x, 2 * x, 0 * x], 1), torch.stack([x, 2 * x, 0 * x]).T):  # in rows, in columns
        Y = furrow.gemv(A, X, trans=trans)
        assert Y.is_cuda and Y.dtype == x.dtype
        np.testing.assert_array_equal(Y.cpu().numpy(), several)
        if dtype != "bfloat16":
            np.testing.assert_array_equal(furrow.gemv(A.cpu().numpy(), X.cpu().numpy(), trans=trans, device="gpu"), several)


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
def test_a_child_of_a_fork_has_no_gpu(grid):
    A, b = grid
    P, s = furrow.Matrix(A, device="gpu"), furrow.Solver(A, "cg", device="gpu")
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: P.apply(b), lambda: P.update_values(A.data), lambda: s.solve(b),
                     lambda: furrow.cg(A, b, device="gpu"), lambda: furrow.solve(A, b, devices="all")):
            try:
                call()
            except furrow.DeviceError as e:
                refused += str(e).startswith("a child of os.fork has no GPU: ")
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert np.allclose(P @ b, A @ b)


@needs_gpu
def test_negated_views_of_torch_are_what_they_show(grid):
    torch = pytest.importorskip("torch")
    A, b = grid
    there, c = Library("torch").rows(A), torch.as_tensor(b, device="cuda")
    negative = torch._neg_view(c)
    P, s, dense = furrow.Matrix(there), furrow.Solver(there, "cg"), there.to_dense()
    assert (P @ negative == -(P @ c)).all() and (s.solve(negative).x == -s.solve(c).x).all()
    assert (furrow.gemv(torch._neg_view(dense), c) == -furrow.gemv(dense, c)).all()
    for call in (lambda: P.apply(c, out=negative), lambda: s.solve(c, out=negative)):
        with pytest.raises(furrow.UsageError, match="^out is a negated view"):
            call()
    before = P @ c
    P.update_values(torch._neg_view(torch.as_tensor(A.data, device="cuda")))
    assert (P @ c == -before).all()
    for kind, wrong in (("sparse_bsr", dense.to_sparse_bsr(2)), ("nested", torch.nested.nested_tensor([c, c[:3]]))):
        with pytest.raises(TypeError, match=f"^A is a {kind} tensor: give csr, csc, coo or dense"):
            furrow.Solver(wrong)
        with pytest.raises(TypeError, match=f"^b is a {kind} tensor: give a dense one"):
            s.solve(wrong)


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
