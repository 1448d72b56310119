# SPDX-License-Identifier: BSD-3-Clause
"""A solve that keeps its x in a file, and one that goes on from there, here or by the command, with ranks or without."""
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import furrow


@pytest.fixture
def system():
    A = furrow.generate("poisson2d:40")
    return A, A @ np.linspace(-1, 1, 1600)


@pytest.fixture(params=[{}, {"ranks": 1}, {"ranks": 3}], ids=["alone", "1 rank", "3 ranks"])
def on(request):
    return request.param


def stopped(A, b, file, **words):
    r = furrow.solve(A, b, solver="cg", M=None, maxiter=20, checkpoint=file, **words)
    assert (r.status, r.checkpoints, r.resumed) == ("max_iterations", 1, None)
    return r


def left_in(folder):
    return sorted(os.listdir(folder))


def command(folder, *words):
    """What `furrow solve --json` says of the system, whose b is in b.npy."""
    ran = subprocess.run([sys.executable, "-m", "furrow", "solve", "poisson2d:40", "-b", "b.npy", "--solver", "cg", "--json", *words],
                         cwd=folder, capture_output=True, text=True)
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("how", [sp.csr_array, sp.csc_array, sp.coo_array, lambda A: A.toarray(), furrow.Matrix])
def test_goes_on_from_where_it_was(tmp_path, system, how, on):
    A, b = system
    file = tmp_path / "run.ckpt"
    first = stopped(A, b, file, **on)
    r = furrow.solve(how(A), b, solver="cg", M="jacobi", resume=file, checkpoint=str(file), **on)
    assert r.success and r.checkpoints == 1
    assert (r.resumed["iterations"], r.resumed["solver"], r.resumed["precond"]) == (20, "cg", "none")
    assert r.resumed["seconds"] == first.seconds["solve"]
    assert r.history[0] == pytest.approx(first.residual, rel=1e-9) == pytest.approx(r.resumed["relative_residual"])
    d = json.loads(json.dumps(r.to_dict()))
    assert (d["resumed"]["iterations"], d["checkpoints"], d["x0"]) == (20, 1, str(file))
    again = furrow.solve(A, b, solver="cg", resume=file, **on)
    assert again.iterations == 0 and again.resumed["iterations"] == 20 + r.iterations
    assert (again.x == r.x).all()
    assert left_in(tmp_path) == ["run.ckpt"]


def test_is_the_file_of_the_command(tmp_path, system, on):
    A, b = system
    np.save(tmp_path / "b.npy", b)
    first = stopped(A, b, tmp_path / "python.ckpt", **on)
    for ranks in ([], ["--ranks", "2"]):
        there = command(tmp_path, "--resume", "python.ckpt", *ranks)
        assert (there["status"], there["resumed"]["iterations"], there["resumed"]["precond"]) == ("converged", 20, "none")
        assert there["history"][0] == pytest.approx(first.residual, rel=1e-9)
        command(tmp_path, "--checkpoint", "command.ckpt", "--max-iterations", "20", *ranks)
        r = furrow.solve(A, b, solver="cg", resume=tmp_path / "command.ckpt", **on)
        assert r.success and r.resumed["iterations"] == 20 and r.resumed["precond"] == "auto"


def test_has_the_bytes_of_the_command(tmp_path, system):
    """But for the seconds, and the checksum of what they stand in: ranks of the same number make the same steps."""
    A, b = system
    np.save(tmp_path / "b.npy", b)
    stopped(A, b, tmp_path / "python.ckpt", ranks=3)
    command(tmp_path, "--precond", "none", "--checkpoint", "command.ckpt", "--max-iterations", "20", "--ranks", "3")
    own, its = ((tmp_path / name).read_bytes() for name in ("python.ckpt", "command.ckpt"))
    assert len(own) == len(its) and own[224:] == its[224:]
    assert sum(x != y for x, y in zip(own, its, strict=True)) <= 16


@pytest.mark.parametrize(("before", "then"), [({"ranks": 3}, {"ranks": 2}), ({"ranks": 2}, {}), ({}, {"ranks": 4})])
def test_goes_on_with_another_number_of_ranks(tmp_path, system, before, then):
    A, b = system
    file = tmp_path / "run.ckpt"
    first = stopped(A, b, file, **before)
    r = furrow.solve(A, b, solver="cg", M="jacobi", resume=file, **then)
    assert r.success and r.resumed["iterations"] == 20 and r.checkpoints is None
    assert r.history[0] == pytest.approx(first.residual, rel=1e-9)


ENDLESS = """  # some 2,000 steps of a hundredth of a second
import furrow, sys, time
def wait(step):
    print("goes on", flush=True)
    time.sleep(0.01)
A = furrow.generate("poisson2d:1000")
furrow.solve(A, A.sum(axis=1), solver="cg", M=None, rtol=1e-10, checkpoint="run.ckpt", every=float(sys.argv[1]),
             monitor=(wait, 1), **eval(sys.argv[2]))
"""


def begin_endless(folder, every, on):
    """The system that `resume_endless` looks at, solved by another process, which says so."""
    return subprocess.Popen([sys.executable, "-c", ENDLESS, str(every), repr(on)], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def resume_endless(file, on):
    A = furrow.generate("poisson2d:1000")
    r = furrow.solve(A, A.sum(axis=1), solver="cg", M=None, rtol=1e-10, maxiter=1, resume=file, **on)
    assert r.resumed["iterations"] > 0 and r.history[0] == pytest.approx(r.resumed["relative_residual"], rel=1e-3)


@pytest.mark.parametrize(("before", "then"), [({}, {"ranks": 2}), ({"ranks": 3}, {"ranks": 2}), ({"ranks": 2}, {})])
def test_killed_at_any_moment_it_loses_at_most_an_interval(tmp_path, before, then):
    every, slack, file = 0.1, 1.5, tmp_path / "run.ckpt"
    process = begin_endless(tmp_path, every, before)
    until = time.monotonic() + 60
    while not file.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(every + slack + 1)
    assert process.poll() is None, "the solve ended before it could be killed"
    process.kill()
    process.communicate()
    assert time.time() - file.stat().st_mtime < every + slack
    resume_endless(file, then)


def test_ctrl_c_leaves_a_checkpoint(tmp_path, on):
    process = begin_endless(tmp_path, 1000, on)
    assert process.stdout.readline() == "goes on\n"
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in said
    assert left_in(tmp_path) == ["run.ckpt"]
    resume_endless(tmp_path / "run.ckpt", on)


def test_is_written_while_it_solves(tmp_path, on):
    A = furrow.generate("poisson2d:150")
    b, file, seen = A @ np.ones(22500), tmp_path / "run.ckpt", []

    def look(step):  # what a crash at this moment would leave
        if file.exists():
            seen.append(furrow.solve(A, b, solver="cg", resume=file, maxiter=1).resumed)

    r = furrow.solve(A, b, solver="cg", M=None, rtol=1e-10, checkpoint=file, every=1e-9, monitor=(look, 40), **on)
    assert r.success and r.checkpoints > 2
    steps = [one["iterations"] for one in seen]
    assert steps and steps == sorted(steps) and 0 < steps[0] and steps[-1] <= r.iterations
    plain = furrow.solve(A, b, solver="cg", M=None, rtol=1e-10, monitor=(lambda step: None, 40), **on)
    assert (plain.history == r.history).all() and (plain.x == r.x).all()
    assert left_in(tmp_path) == ["run.ckpt"]


def test_ends_with_a_checkpoint_where_it_is_interrupted(tmp_path, system, on):
    A, b = system

    def fail(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        furrow.solve(A, b, solver="cg", M=None, checkpoint=tmp_path / "run.ckpt", monitor=(fail, 7), **on)
    assert raised.value.partial.checkpoints == 1
    assert furrow.solve(A, b, solver="cg", resume=tmp_path / "run.ckpt").resumed["iterations"] == 7
    assert left_in(tmp_path) == ["run.ckpt"]


def test_in_single_precision(tmp_path, system, on):
    A, b = (v.astype(np.float32) for v in system)
    stopped(A, b, tmp_path / "run.ckpt", rtol=1e-4, **on)
    r = furrow.solve(A, b, solver="cg", rtol=1e-4, resume=tmp_path / "run.ckpt", **on)
    assert r.success and r.x.dtype == np.float32
    with pytest.raises(furrow.InputError, match="is a checkpoint of another matrix"):  # its entries have other bits
        furrow.solve(A.astype(float) * 1.1, b.astype(float), resume=tmp_path / "run.ckpt", **on)


def test_a_solver_keeps_each_of_its_solves(tmp_path, system):
    A, b = system
    P = furrow.Matrix(A)
    s = furrow.Solver(P, "cg", checkpoint=tmp_path / "run.ckpt")
    s.solve(b)
    P.update_values(2 * A.data)
    with pytest.raises(furrow.InputError, match="is a checkpoint of another matrix of the same size: some entry differs"):
        s.solve(b, resume=tmp_path / "run.ckpt")
    s.solve(3 * b)
    assert s.solve(3 * b, resume=tmp_path / "run.ckpt").iterations == 0


def test_entries_of_one_place_add_up_first(tmp_path, system):
    A, b = system
    stopped(A, b, tmp_path / "run.ckpt")
    rows, cols, half = *A.tocoo().coords, A.tocoo().data / 2
    twice = sp.coo_array((np.tile(half, 2), (np.tile(rows, 2), np.tile(cols, 2))), A.shape)
    assert furrow.solve(twice, b, resume=tmp_path / "run.ckpt").resumed["iterations"] == 20


def test_another_system_is_refused(tmp_path, system, on):
    A, b = system
    file = tmp_path / "run.ckpt"
    stopped(A, b, file, **on)
    for other, rhs, what in ((A, 2 * b, "is a checkpoint of the same matrix with another right-hand side"),
                             (2 * A, b, "is a checkpoint of another matrix of the same size"),
                             (furrow.generate("stencil2d9:40"), b, "is a checkpoint of a matrix of 7840 entries")):
        with pytest.raises(furrow.InputError, match=what):
            furrow.solve(other, rhs, resume=file, **on)
    (tmp_path / "cut.ckpt").write_bytes(file.read_bytes()[:-9])
    for name, what in (("absent.ckpt", "there is no such file"), ("cut.ckpt", "bytes in place of"), (".", "is a directory")):
        with pytest.raises(furrow.InputError, match=what):
            furrow.solve(A, b, resume=tmp_path / name, **on)


def test_what_does_not_go_together_is_said(tmp_path, system, on):
    A, b = system
    file = tmp_path / "run.ckpt"
    stopped(A, b, file, **on)
    op = LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=float)
    two = np.stack([b, b], axis=1)
    for words, error, what in (({"every": 5}, furrow.UsageError, "name its file by checkpoint"),
                               ({"checkpoint": file, "every": 0}, furrow.UsageError, "a number above 0"),
                               ({"checkpoint": file, "every": float("nan")}, furrow.UsageError, "a number above 0"),
                               ({"checkpoint": file, "callback": print}, furrow.UsageError, "give one of them"),
                               ({"resume": file, "x0": b}, furrow.UsageError, "both say what x begins with"),
                               ({"checkpoint": tmp_path}, furrow.InputError, "is a directory"),
                               ({"checkpoint": tmp_path / "absent" / "x"}, furrow.InputError, "its folder does not exist"),
                               ({"A": op, "checkpoint": file}, furrow.UsageError,
                                "give a matrix" if on else "known by its products alone"),
                               ({"b": two, "checkpoint": file}, furrow.UsageError,
                                "give a vector" if on else "leave checkpoint out"),
                               ({"b": two, "resume": file}, furrow.UsageError, "give a vector" if on else "leave resume out"),
                               ({"checkpoint": 5}, TypeError, "int"), ({"resume": 5}, TypeError, "int")):
        with pytest.raises(error, match=what):
            furrow.solve(**{"A": A, "b": b, **words, **on})


def test_where_ranks_keep_x_a_monitor_has_none(tmp_path, system):
    A, b = system
    told = []

    def asks(step):
        told.append(step.iteration)
        with pytest.raises(AttributeError, match="leave checkpoint out where the monitor wants x"):
            step.x  # noqa: B018

    for monitor in ((asks, 10), asks):
        r = furrow.solve(A, b, solver="cg", ranks=2, checkpoint=tmp_path / "run.ckpt", monitor=monitor)
        assert r.success and r.checkpoints == 1 and told
        assert callable(monitor) or told == list(range(10, r.iterations + 1, 10))
        told.clear()


def solve_where_no_folder_is(A, b, folder, on):
    """The folder is gone before the first checkpoint."""
    folder.mkdir()

    def remove(step):
        if folder.exists():
            folder.rmdir()

    return furrow.solve(A, b, solver="cg", M=None, checkpoint=folder / "run.ckpt", every=1e-9, monitor=(remove, 1), **on)


def test_one_that_cannot_be_written_is_a_warning(tmp_path, system, on):
    A, b = system
    with pytest.warns(furrow.SolveWarning, match="its folder does not exist: the solve goes on without this checkpoint") as heard:
        r = solve_where_no_folder_is(A, b, tmp_path / "folder", on)
    assert r.success and r.checkpoints == 0 and len(heard) == 1
    assert heard[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(furrow.SolveWarning) as raised:
            solve_where_no_folder_is(A, b, tmp_path / "folder", on)
    assert raised.value.partial.status == "interrupted"


def test_one_for_which_there_is_no_room_leaves_the_last_one(tmp_path, system, on):
    A, b = system
    file = tmp_path / "run.ckpt"
    stopped(A, b, file, **on)
    before, (soft, hard) = file.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.warns(furrow.SolveWarning, match="run.ckpt: .*: the solve goes on without this checkpoint") as heard:
            r = furrow.solve(A, b, solver="cg", M=None, checkpoint=file, every=1e-9, **on)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert r.success and r.checkpoints == 0 and len(heard) == 1 and "too large" in str(heard[0].message)
    assert file.read_bytes() == before and left_in(tmp_path) == ["run.ckpt"]
