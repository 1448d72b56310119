# SPDX-License-Identifier: BSD-3-Clause
"""Solving, watching, stopping, threads and forks."""
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import furrow


def test_bits_are_those_of_the_command_line(tmp_path, grid):
    A, b = grid
    r = furrow.solve(A, b)
    furrow.write(tmp_path / "b.mtx", b)
    furrow.write(tmp_path / "a.mtx", A)
    ran = subprocess.run([sys.executable, "-m", "furrow", "solve", "a.mtx", "-b", "b.mtx", "-o", "x.npy", "--json"],
                         cwd=tmp_path, capture_output=True, text=True, check=True)
    assert np.load(tmp_path / "x.npy").tobytes() == r.x.tobytes()
    assert set(json.loads(ran.stdout)) == set(r.to_dict())


def test_result(grid):
    A, b = grid
    r = furrow.cg(A, b, rtol=1e-9, M="jacobi")
    x, info = r
    assert x is r.x and info == 0 == r[1] and len(r) == 2 and r.success
    assert abs(np.linalg.norm(b - A @ x) / np.linalg.norm(b) - r.residual) <= 1e-14
    assert len(r.history) == r.iterations + 1 == len(r.history_seconds)
    assert "Converged" in str(r) and "cg with jacobi" in repr(r) and "<table>" in r._repr_html_()
    assert (pickle.loads(pickle.dumps(r)).x == x).all()


def test_info_says_why(grid):
    A, b = grid
    assert furrow.cg(A, b, maxiter=3).info == 3
    assert furrow.cg(A, b, monitor=(lambda step: step.iteration >= 4, 2)).info == 4
    with pytest.warns(furrow.SolveWarning):
        assert furrow.cg(-A, b).info == -1
    with pytest.raises(furrow.InputError, match="symmetric"):
        furrow.cg(furrow.generate("convection2d:10:5"), np.ones(100))


def test_gmres_has_scipys_cycles():
    A = furrow.generate("convection2d:20:10")
    b = A @ np.ones(400)
    xs, norms = [], []
    assert furrow.gmres(A, b, restart=5, maxiter=2, rtol=1e-12, callback=xs.append, callback_type="x").info == 10
    assert len(xs) == 2 and xs[-1].shape == (400,)
    r = furrow.gmres(A, b, restart=30, rtol=1e-8, callback=norms.append, callback_type="pr_norm")
    assert r.success and len(norms) == r.iterations and norms == sorted(norms, reverse=True)
    assert r.solver == "gmres:30"
    with pytest.raises(ValueError, match="callback_type"):
        furrow.gmres(A, b, callback_type="y")
    for restart in (0, -3):
        with pytest.raises(furrow.UsageError, match="restart"):
            furrow.gmres(A, b, restart=restart)
    with pytest.raises(furrow.UsageError, match="not both"):
        furrow.fgmres(A, b, callback=print, monitor="bar")


def test_refine_is_double_outside():
    A = furrow.generate("poisson2d:40")
    exact = np.random.default_rng(2).standard_normal(1600)
    r = furrow.solve(A, A @ exact, solver="refine", rtol=1e-12)
    assert r.solver == "refine:cg" and r.success and abs(r.x - exact).max() <= 1e-9
    assert r.to_dict()["inner_iterations"] > r.iterations
    x, info = furrow.refine(A, A @ exact, rtol=1e-12)
    assert info == 0 and abs(x - exact).max() <= 1e-9
    kept = furrow.Solver(A, solver="refine:minres", rtol=1e-12)
    assert [kept.solve(A @ exact).seconds["setup"] > 0 for _ in range(2)] == [True, False]
    with pytest.raises(furrow.UsageError, match="double precision only"):
        furrow.solve(A.astype(np.float32), np.ones(1600, np.float32), solver="refine", rtol=1e-4)
    with pytest.raises(furrow.UsageError, match="give the matrix"):
        furrow.refine(sla.aslinearoperator(A), np.ones(1600))


def test_minres_shifts():
    A = furrow.generate("poisson2d:20")
    b = np.random.default_rng(1).standard_normal(400)
    exact = sla.spsolve(sp.csc_array(A - 3.5 * sp.eye_array(400)), b)
    for matrix in (A, A.toarray(), furrow.Matrix(A), sla.aslinearoperator(A)):
        x, info = furrow.minres(matrix, b, shift=3.5, rtol=1e-12)
        assert info == 0
        np.testing.assert_allclose(x, exact, atol=1e-8 * abs(exact).max())


def test_solve_takes_the_method_that_serves():
    for spec, symmetric in (("poisson2d:20", True), ("convection2d:20:10", False)):
        A = furrow.generate(spec)
        r = furrow.solve(A, A @ np.ones(400))
        assert r.success and (r.solver == "cg") == symmetric and r.rungs[-1]["status"] == "converged"
        np.testing.assert_allclose(r.x, 1, atol=1e-5)
        given = furrow.Solver(furrow.Matrix(A), M=lambda r: r / 4).solve(A @ np.ones(400))
        assert given.success and given.precond == "given" and (given.solver == "cg") == symmetric


def test_preconditioners_in_any_form(grid):
    A, b = grid
    d = A.diagonal()
    inverse = sp.diags_array(1 / d)
    for M in ("jacobi", inverse, lambda r: r / d, sla.aslinearoperator(inverse), inverse.toarray(),
              furrow.Matrix(inverse)):
        for a in (A, furrow.Matrix(A), sla.aslinearoperator(A)) if not isinstance(M, str) else (A,):
            r = furrow.cg(a, b, M=M, rtol=1e-10)
            assert r.success, r
            np.testing.assert_allclose(r.x, 1, atol=1e-7)


def test_operators_and_their_exceptions(grid):
    A, b = grid

    class own:
        shape = A.shape

        def __matmul__(self, x):
            return A @ x

    assert furrow.cg(own(), b).success

    def fails(x):
        raise ZeroDivisionError("in the product")

    with pytest.raises(ZeroDivisionError, match="in the product"):
        furrow.cg(sla.LinearOperator(A.shape, fails), b)
    with pytest.raises(ZeroDivisionError):
        furrow.cg(A, b, M=fails)
    with pytest.raises(furrow.UsageError, match="made 3 elements"):
        furrow.cg(A, b, M=lambda r: r[:3])
    with pytest.raises(TypeError):
        furrow.cg("poisson2d:20", b)


def test_callback_is_called_once_an_iteration(grid):
    A, b = grid
    seen = []
    r = furrow.cg(A, b, callback=lambda x: seen.append(np.linalg.norm(b - A @ x)))
    assert len(seen) == r.iterations
    np.testing.assert_allclose(seen, r.history[1:] * np.linalg.norm(b), rtol=1e-6)
    norms = []
    furrow.cg(A, b, residuals=norms)
    np.testing.assert_allclose(norms[1:], seen)


def test_a_monitor_gets_x_where_it_asks(grid):
    A, b = grid
    kept, seen = [], []

    def looks(step):
        assert callable(step._x)  # not made yet
        x = step.x
        assert step.x is x and abs(np.linalg.norm(b - A @ x) / np.linalg.norm(b) - step.residual) < 1e-10
        seen.append(step.iteration)

    for name in ("cg", "gmres", "bicgstab", "minres"):
        del seen[:]
        r = getattr(furrow, name)(A, b, rtol=1e-10, monitor=(looks, 4))
        assert r.success and seen == list(range(4, r.iterations, 4))
        assert (r.x == getattr(furrow, name)(A, b, rtol=1e-10).x).all()  # looking changes nothing

    furrow.cg(A, b, rtol=1e-10, monitor=(kept.append, 4))
    with pytest.raises(furrow.UsageError, match="while its monitor runs"):
        kept[0].x
    big = furrow.generate("poisson2d:300")

    def by_time(step):
        seen.append(np.linalg.norm(step.x))
        return len(seen) == 2

    del seen[:]
    assert furrow.cg(big, np.ones(90000), rtol=1e-12, monitor=by_time).status == "interrupted" and 0 < seen[0] < seen[1]


def test_an_exception_in_a_monitor_arrives_with_the_answer_so_far(grid):
    A, b = grid

    def fails(step):
        raise KeyError(step.iteration)

    with pytest.raises(KeyError) as e:
        furrow.cg(A, b, monitor=(fails, 5))
    assert e.value.args == (5,) and e.value.partial.iterations == 5


def test_a_solver_stays(grid):
    A, b = grid
    P = furrow.Matrix(A)
    s = furrow.Solver(P, rtol=1e-10)
    first, second = s.solve(b), s.solve(b)
    assert first.x.tobytes() == second.x.tobytes() and second.seconds["setup"] == 0
    P.update_values(2 * A.data)
    np.testing.assert_allclose(s.solve(b, x0=first.x).x, 0.5, atol=1e-7)
    out = np.empty(400)
    assert s.solve(b, out=out).x is out


def test_a_solver_serves_one_at_a_time(grid):
    A, b = grid
    s = furrow.Solver(A, "cg", monitor=(lambda step: s.solve(b), 1))
    with pytest.raises(furrow.UsageError, match="solving already"):
        s.solve(b)


def test_a_matrix_that_was_not_made():
    class unmade(furrow.Matrix):
        def __init__(self):
            pass

    with pytest.raises(TypeError):
        unmade() @ np.ones(3)


def test_the_default_device_is_asked(grid, monkeypatch):
    A, b = grid
    monkeypatch.setattr(furrow, "default_device", "gpu:99")
    with pytest.raises(furrow.Error):
        furrow.cg(A, b)


def test_nothing_of_the_caller_is_written_to(grid):
    A, b = grid
    x0 = np.full(400, 0.5)
    before = [a.tobytes() for a in (A.data, A.indices, A.indptr, b, x0)]
    furrow.cg(A, b, x0)
    assert before == [a.tobytes() for a in (A.data, A.indices, A.indptr, b, x0)]


INTERRUPTED = """
import furrow, numpy as np, signal, sys, tempfile, threading, time, os
sent, running = [], threading.Event()
def slow_file():  # 5 million rows that come at the speed of a network
    name = os.path.join(tempfile.mkdtemp(), "a.mtx")
    os.mkfifo(name)
    def feed():
        with open(name, "w") as file:
            os.unlink(name)
            file.write("%%MatrixMarket matrix coordinate real general\\n5000211 5000211 5000211\\n")
            for k in range(1, 5000212):
                file.write(str(k) + " " + str(k) + " 1\\n")
                if k % 10000 == 0:
                    running.set()
                    time.sleep(0.02)
    threading.Thread(target=feed, daemon=True).start()
    return name
A = {make}
b = np.ones(5000211)
def send():
    running.wait()
    time.sleep({after})
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send, daemon=True).start()
try:
    {call}
    time.sleep(30)  # a machine that was done before the signal came
except KeyboardInterrupt as e:
    partial = getattr(e, "partial", None)
    print(time.monotonic() - sent[0], partial.status if partial else "none", flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("make, after, call, partial", [
    ("slow_file()", 0.3, "furrow.read(A)", "none"),
    ("None", 0.1, "running.set(); furrow.generate('poisson3d:171')", "none"),
    ("furrow.generate('poisson3d:171')", 0.1, "running.set(); furrow.Solver(A)", "none"),
    ("furrow.generate('poisson3d:171')", 0.1, "furrow.cg(A, b, rtol=1e-15, monitor=lambda step: running.set())", "interrupted"),
], ids=["reading", "generating", "set-up", "solving"])
def test_ctrl_c_is_heard(make, after, call, partial):
    """In 5 million rows, within half a second; three attempts, and more time by what else keeps the machine busy."""
    for _ in range(3):
        ran = subprocess.run([sys.executable, "-c", INTERRUPTED.format(make=make, after=after, call=call)], capture_output=True,
                             text=True, timeout=120, check=True)
        seconds, said = ran.stdout.split()
        assert said == partial
        if float(seconds) < 0.5 * max(1, os.getloadavg()[0] / len(os.sched_getaffinity(0))):
            return
    pytest.fail(f"the last of three attempts took {seconds} s")


def test_a_matrix_shows_itself(grid):
    P = furrow.Matrix(grid[0])
    assert "400 x 400, 1920 entries in float64" in repr(P)
    assert "1,920" in P._repr_html_() and "dia" in P._repr_html_()
    assert (abs(P.tocsr() - grid[0])).nnz == 0
    assert P.stats["row_max"] == 5


def test_threads_share_a_matrix():
    A = furrow.generate("poisson2d:60")
    P = furrow.Matrix(A)
    x = np.random.default_rng(1).standard_normal(3600)
    expected, wrong = (P @ x).tobytes(), []

    def work():
        for _ in range(1000):
            if (P @ x).tobytes() != expected:
                wrong.append(1)

    team = [threading.Thread(target=work) for _ in range(4)]
    for t in team:
        t.start()
    for t in team:
        t.join()
    assert not wrong


def test_new_values_while_others_multiply():
    A = furrow.generate("poisson2d:200")
    P, x = furrow.Matrix(A), np.ones(40000)
    allowed = {(k * (A @ x)).tobytes() for k in (1, 2)}
    stop, seen = threading.Event(), set()

    def work():
        while not stop.is_set():
            seen.add((P @ x).tobytes())

    t = threading.Thread(target=work)
    t.start()
    for k in (2, 1) * 5:
        P.update_values(k * A.data)
    stop.set()
    t.join()
    assert seen <= allowed


def test_the_lock_is_released_in_long_calls():
    A = furrow.generate("poisson2d:700")
    s = furrow.Solver(A, rtol=1e-12)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    t = threading.Thread(target=tick)
    t.start()
    began = time.monotonic()
    s.solve(np.ones(490000))
    took = time.monotonic() - began
    done.set()
    t.join()
    assert len(ticks) > took / 0.05


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_of_a_fork_goes_on():
    P = furrow.Matrix(furrow.generate("poisson2d:100"))
    x = np.random.default_rng(1).standard_normal(10000)
    expected, before, stop = (P @ x).tobytes(), int(furrow.threads()), threading.Event()

    def busy():
        while not stop.is_set():
            P @ x

    t = threading.Thread(target=busy)
    t.start()
    try:
        for _ in range(100):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                good = (P @ x).tobytes() == expected and int(furrow.threads()) == before
                os._exit(0 if good else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        t.join()


def test_threads_of_numpy_are_left_alone():
    with furrow.threads(1) as n:
        assert int(n) == 1
    with pytest.raises(furrow.UsageError):
        furrow.threads(-1)


def test_files(tmp_path, grid):
    A, _ = grid
    for ending in ("mtx", "mtx.gz", "furrow", "petsc"):
        furrow.write(tmp_path / f"a.{ending}", A)
        assert (abs(furrow.read(tmp_path / f"a.{ending}") - A)).nnz == 0
    with pytest.raises(furrow.UsageError, match="choose one of these endings"):
        furrow.write(tmp_path / "a.npy", A)
    assert furrow.info(tmp_path / "a.mtx")["symmetry"] == "symmetric"
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n5 1 1\n")
    with pytest.raises(furrow.InputError, match="bad.mtx:3"):
        furrow.read(tmp_path / "bad.mtx")
    with pytest.raises(furrow.InputError):
        furrow.read(tmp_path / "none.mtx")


def test_vectors_in_files(tmp_path):
    x = np.random.default_rng(1).standard_normal(1000)
    for ending in ("npy", "txt", "csv", "mtx"):
        furrow.write(tmp_path / f"x.{ending}", x)
    assert np.load(tmp_path / "x.npy").tobytes() == x.tobytes()
    assert np.loadtxt(tmp_path / "x.txt").tobytes() == x.tobytes() == np.loadtxt(tmp_path / "x.csv").tobytes()


FULL_DISK = """
import furrow, numpy as np, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # what follows fails after so many bytes
try:
    furrow.write(sys.argv[1], np.ones(5000))
except furrow.InputError as e:
    print(e)
"""


@pytest.mark.parametrize("ending", ["npy", "txt", "csv", "mtx"])
def test_a_vector_that_cannot_be_written_leaves_what_was_there(tmp_path, ending):
    file = tmp_path / f"x.{ending}"
    furrow.write(file, np.arange(3.0))
    before = file.read_bytes()
    ran = subprocess.run([sys.executable, "-c", FULL_DISK, str(file)], capture_output=True, text=True, check=True)
    assert str(file) in ran.stdout and "too large" in ran.stdout
    assert file.read_bytes() == before and os.listdir(tmp_path) == [file.name]


def test_series_agree_with_numpy():
    from numpy.polynomial import Chebyshev

    from furrow.chebyshev import Series, exponential, fit

    theirs = Chebyshev([1, 2, 3, 4], domain=[0, 3])
    ours = Series(theirs)
    x = np.linspace(0, 3, 50)
    for a, b in [(ours, theirs), (ours * ours, theirs * theirs), (ours.derivative(), theirs.deriv()),
                 (ours.integral(), theirs.integ(lbnd=0)), (ours + ours, theirs + theirs)]:
        np.testing.assert_allclose(a(x), b(x), rtol=1e-13, atol=1e-12)
    with pytest.raises(ZeroDivisionError):
        fit(lambda x: 1 / 0)
    A = furrow.generate("poisson1d:30")
    w, V = np.linalg.eigh(A.toarray())
    b = np.arange(30.0)
    y = exponential(-0.3, (0, 4))(A) @ b
    np.testing.assert_allclose(y, V @ (np.exp(-0.3 * w) * (V.T @ b)), atol=1e-12)


@pytest.mark.parametrize("precond", ["amg:sa", "amg:grid", "amg:pairwise", "jacobi"])
def test_new_values_are_taken_over_again_and_again(precond):
    A = furrow.generate("poisson2d:40")
    scale = sp.diags_array(1 + np.arange(1600) % 7 / 10)
    P = furrow.Matrix(A)
    s = furrow.Solver(P, "fcg", M=precond)
    b = np.ones(1600)
    for k in range(4):
        now = A if k % 2 else sp.csr_array(scale @ A @ scale)
        P.update_values(now.data)
        r = s.solve(b)
        assert r.success and r.seconds["setup"] > 0 and s.setup_seconds > 0
        assert np.linalg.norm(b - now @ r.x) <= 1.01e-8 * np.linalg.norm(b)
        assert s.solve(b).seconds["setup"] == 0
    bad = A.data.copy()
    bad[1] *= 2
    P.update_values(bad)
    for _ in range(2):  # no solve begins, and nothing of the matrix before is solved
        with pytest.raises(furrow.InputError, match="symmetric"):
            s.solve(b)
        assert s.setup_seconds == 0
    P.update_values(A.data)
    assert np.linalg.norm(b - A @ s.solve(b).x) <= 1.01e-8 * np.linalg.norm(b)


def cube(n):
    """elasticity3d:N and where its nodes are: x fastest, the face z = 0 is clamped and left out."""
    z, y, x = np.meshgrid(np.arange(1, n + 1), np.arange(n + 1), np.arange(n + 1), indexing="ij")
    return furrow.generate(f"elasticity3d:{n}"), np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)


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
