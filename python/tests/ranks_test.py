# SPDX-License-Identifier: BSD-3-Clause
"""furrow.solve with devices and ranks."""
import doctest
import json
import pathlib
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from gpu_kit import needs_gpu, without_gpu

import furrow
from furrow import _gpu


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_ranks_of_threads_solve_together(grid, ranks):
    A, b = grid
    r, again = furrow.solve(A, b, ranks=ranks), furrow.solve(A, b, devices="cpu", ranks=ranks)
    assert r.success and r.info == 0 and np.linalg.norm(b - A @ r.x) <= 1.01e-8 * np.linalg.norm(b)
    assert r.x.tobytes() == again.x.tobytes()
    assert (r.ranks, len(r.parts), r.device) == (ranks, ranks, "cpu")
    assert sum(part["rows"] for part in r.parts) == 400 and sum(part["entries"] for part in r.parts) == A.nnz
    assert all(part["seconds"]["setup"] > 0 for part in r.parts)
    said = json.loads(json.dumps(r.to_dict()))
    assert said["ranks"] == ranks and said["parts"] == r.parts and said["partition"] == "rows"
    assert said["cut"] == sum(part["coupled"] for part in r.parts)
    assert list(said["seconds"]["parts"]) == ["check", "apart", "symmetry", "look", "choose", "precond", "convert"]


def test_a_solve_without_ranks_has_none(grid):
    r = furrow.solve(*grid)
    assert r.ranks is None and r.parts == [] and "parts" not in r.to_dict() and "ranks" not in r.to_dict()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dense", "list", "wide", "unsorted", "Matrix"])
def test_matrices_of_all_forms(form):
    A = furrow.generate("convection2d:12:10")
    b = A @ np.arange(144.0)
    wide = sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    backwards = [A.indices[A.indptr[i]:A.indptr[i + 1]][::-1] for i in range(144)]
    values = [A.data[A.indptr[i]:A.indptr[i + 1]][::-1] for i in range(144)]
    unsorted = sp.csr_array((np.concatenate(values), np.concatenate(backwards), A.indptr), shape=A.shape)
    given = {"csr": A, "csc": A.tocsc(), "coo": A.tocoo(), "dense": A.toarray(), "list": A.toarray().tolist(),
             "wide": wide, "unsorted": unsorted, "Matrix": furrow.Matrix(A)}[form]
    r = furrow.solve(given, b, ranks=3, solver="bicgstab")
    same = furrow.solve(A, b, ranks=3, solver="bicgstab")
    assert r.success and r.solver == "bicgstab" and r.x.tobytes() == same.x.tobytes()
    assert (r.converted is None) == (form in ("csr", "wide", "unsorted", "Matrix"))


def test_what_the_first_rank_solves_alone_is_said():
    A = furrow.generate("convection2d:12:10")
    r = furrow.solve(A, A @ np.ones(144), ranks=3)
    said = r.to_dict()
    assert r.success and said["gathered"] and [rung["ranks"] for rung in said["rungs"]][-1] == 1
    alike = furrow.solve(furrow.generate("poisson2d:20"), np.ones(400), ranks=3).to_dict()
    assert alike["gathered"] == "" and all(rung["ranks"] == 3 for rung in alike["rungs"])


def test_both_precisions(grid):
    A, b = grid
    single = furrow.solve(A.astype(np.float32), b.astype(np.float32), ranks=2, rtol=1e-5)
    assert single.success and single.x.dtype == np.float32 and single.to_dict()["precision"] == "f32"
    for mixed in ((A.astype(np.float32), b), (A, b.astype(np.float32))):
        assert furrow.solve(*mixed, ranks=2).x.dtype == np.float64
    with pytest.raises(furrow.UsageError, match="more than float32 can hold"):
        furrow.solve(A.astype(np.float32), b.astype(np.float32), ranks=2, rtol=1e-8)


def test_first_guess_and_shapes(grid):
    A, b = grid
    x0 = np.ones(400)
    r = furrow.solve(A, b, x0, ranks=2)
    assert r.iterations == 0 and (r.x == 1).all() and r.x is not x0 and r.to_dict()["x0"] == "given"
    assert furrow.solve(A, b.reshape(-1, 1), ranks=2).x.shape == (400, 1)


def test_who_watches(grid):
    A, b = grid
    seen, shown, residuals = [], [], []
    r = furrow.solve(A, b, ranks=2, callback=lambda x: seen.append(x.copy()), residuals=residuals)
    assert len(seen) == r.iterations and seen[-1].shape == (400,) and len(residuals) == r.iterations + 1
    assert residuals[0] == pytest.approx(np.linalg.norm(b))
    furrow.solve(A, b, ranks=2, monitor=(lambda step: shown.append((step.iteration, step.x.shape)), 5))
    assert shown[:2] == [(5, (400,)), (10, (400,))]
    assert furrow.solve(A, b, ranks=2, monitor=(lambda step: step.iteration >= 10, 5)).status == "interrupted"

    def asks(step):
        with pytest.raises(AttributeError, match="ranks have parts of it"):
            step.x  # noqa: B018
        return True

    assert furrow.solve(A, b, ranks=2, rtol=1e-30, maxiter=10**6, monitor=asks).status in ("interrupted", "stagnated")


def test_what_a_callback_raises(grid):
    def fails(x):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as caught:
        furrow.solve(*grid, ranks=2, callback=fails)
    assert caught.value.partial.ranks == 2


def test_ctrl_c_ends_the_solve_and_others_may_work():
    A = furrow.generate("poisson2d:500")
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    other = threading.Thread(target=tick)
    other.start()
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            for _ in range(1000):
                furrow.solve(A, np.random.default_rng(1).standard_normal(250000), ranks=2, rtol=1e-12)
    finally:
        done.set()
        other.join()
    gaps = np.diff(ticks)
    assert len(ticks) > 20 and gaps.max() < 0.3, "the lock was not released"
    partial = getattr(caught.value, "partial", None)
    # An answer may be there, and be looked at, when the signal comes.
    assert partial is None or partial.status in ("interrupted", "converged")


def test_results_are_kept_and_shown(grid, tmp_path):
    r = furrow.solve(*grid, ranks=2)
    back = pickle.loads(pickle.dumps(r))
    assert back.ranks == 2 and back.parts == r.parts
    r.report(tmp_path / "solve.html")
    assert "Converged" in (tmp_path / "solve.html").read_text()
    assert "ranks" not in repr(r) and "cg with jacobi" in repr(r)


@pytest.mark.parametrize(("asked", "sentence"), [
    ({"devices": "gpu:0"}, 'devices="gpu:0" must be "all", a list of GPUs, or "cpu" with ranks'),
    ({"devices": "cpu"}, "as many as ranks says"),
    ({"devices": ["cpu"]}, "devices has 'cpu': name GPUs by their numbers"),
    ({"devices": [-1]}, "devices has -1: name GPUs by their numbers"),
    ({"devices": [True]}, "devices has True: name GPUs by their numbers"),
    ({"devices": [0.5]}, "devices has 0.5: name GPUs by their numbers"),
    ({"devices": []}, "devices names no GPU"),
    ({"devices": "all", "ranks": 2}, "a GPU has one rank: leave ranks out"),
    ({"ranks": 0}, "ranks = 0 must be a whole number from 1 to 256"),
    ({"ranks": 2.5}, "ranks = 2.5 must be a whole number"),
    ({"ranks": 2, "device": "cpu"}, "device is for one, and devices and ranks for several"),
    ({"ranks": 2, "M": lambda r: r}, "M is an operator of yours"),
    ({"ranks": 2, "M": "ic0"}, "say local:ic0"),
    ({"ranks": 2, "solver": "direct"}, "direct does not run on ranks yet"),
    ({"ranks": 2, "tune": True}, "^formats are not measured on ranks"),
    ({"ranks": 2, "scale": "symmetric"}, "^ranks solve the rows as they stand: leave scale out"),
    ({"ranks": 2, "coordinates": [[0, 0]]}, "coordinates is for a solve on one device"),
    ({"ranks": 2, "maxiter": 0}, "maxiter = 0 must be at least 1"),
    ({"ranks": 2, "time_limit": -1}, "time_limit = -1.0: give a number of seconds"),
    ({"ranks": 2, "format": "nothing"}, "nothing"),
])
def test_what_is_refused(grid, asked, sentence):
    with pytest.raises(furrow.UsageError, match=sentence):
        furrow.solve(*grid, **asked)


def test_systems_that_are_refused(grid):
    A, b = grid
    with pytest.raises(furrow.InputError, match=r"\(399, 400\): ranks solve square systems"):
        furrow.solve(A[:-1], b[:-1], ranks=2)
    with pytest.raises(furrow.UsageError, match=r"b is of shape \(399,\)"):
        furrow.solve(A, b[:-1], ranks=2)
    with pytest.raises(furrow.UsageError, match="b has 3 columns, and ranks solve for one"):
        furrow.solve(A, np.ones((400, 3)), ranks=2)
    with pytest.raises(furrow.UsageError, match="without entries, and each rank takes its rows"):
        furrow.solve(sp.linalg.aslinearoperator(A), b, ranks=2)
    wrong = A.copy()
    wrong.indices = wrong.indices.copy()
    wrong.indices[-1] = 999
    with pytest.raises(furrow.InputError, match="^entry 1919, in row 399, is in column 999 of a matrix of 400 x 400"):
        furrow.solve(wrong, b, ranks=2)
    with pytest.warns(furrow.SolveWarning, match="NaN"):
        r = furrow.solve(sp.diags_array([1.0, np.nan, 1.0, 1.0]).tocsr(), np.ones(4), ranks=2)
    assert r.status == "nan" and "NaN" in r.message


def test_page():
    """The section of docs/ranks.md."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "ranks.md").read_text(encoding="utf-8")
    _, found, section = page.partition("\n## From Python\n")
    assert found
    ran = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(section, {}, "ranks.md", None, 0))
    assert ran.attempted > 4 and ran.failed == 0


@without_gpu
def test_devices_without_a_gpu(grid):
    for devices in ("all", [0, 1], ["gpu:0", "gpu:1"], [0]):
        with pytest.raises(furrow.DeviceError, match=f"no GPU can be used: {furrow._core.devices()['problem']}"):
            furrow.solve(*grid, devices=devices)


@needs_gpu
def test_all_gpus_of_this_machine():
    A = furrow.generate("poisson3d:40")
    b = A @ np.ones(64000)
    r = furrow.solve(A, b, devices="all", solver="cg", M="jacobi")
    assert r.success and abs(r.x - 1).max() < 1e-5
    if _gpu.count() == 1:
        assert r.ranks is None and r.device == "gpu:0"
        return
    assert r.ranks == _gpu.count() and [part["device"] for part in r.parts] == [f"gpu:{k}" for k in range(r.ranks)]
    assert r.device == f"gpu:{','.join(map(str, range(r.ranks)))}"
    assert "upload" in r.to_dict()["seconds"]["parts"] and r.to_dict()["ranks_talk_through"]


@needs_gpu
def test_a_list_of_gpus(tmp_path):
    A = furrow.generate("poisson3d:30")
    b = A @ np.ones(27000)
    one = furrow.solve(A, b, devices=["gpu:0"])
    assert one.ranks is None and one.device == "gpu:0" and one.success
    two, same = furrow.solve(A, b, devices=[0, 0]), furrow.solve(A, b, devices=["gpu:0", 0])
    assert two.success and two.ranks == 2 and two.device == "gpu:0,0" and two.x.tobytes() == same.x.tobytes()
    assert two.to_dict()["ranks_talk_through"] == "the host: gpu:0 has several ranks"
    kept = {"solver": "cg", "M": None, "checkpoint": tmp_path / "run.ckpt"}
    stopped = furrow.solve(A, b, devices=[0, 0], maxiter=20, **kept)
    r = furrow.solve(A, b, devices=[0, 0], resume=tmp_path / "run.ckpt", **kept)
    assert r.success and (stopped.checkpoints, r.resumed["iterations"], r.checkpoints) == (1, 20, 1)
    assert r.history[0] == pytest.approx(stopped.residual, rel=1e-9)
    with pytest.raises(furrow.DeviceError, match="there is no gpu:99"):
        furrow.solve(A, b, devices=[0, 99])
