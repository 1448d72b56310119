# SPDX-License-Identifier: BSD-3-Clause
"""A solve that keeps its x in a file, and one that goes on from there, here or by the command."""
import json
import os
import subprocess
import sys
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


def stopped(A, b, file, **words):
    r = furrow.solve(A, b, solver="cg", M=None, maxiter=20, checkpoint=file, **words)
    assert (r.status, r.checkpoints, r.resumed) == ("max_iterations", 1, None)
    return r


def left_in(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("how", [sp.csr_array, sp.csc_array, sp.coo_array, lambda A: A.toarray(), furrow.Matrix])
def test_goes_on_from_where_it_was(tmp_path, system, how):
    A, b = system
    file = tmp_path / "run.ckpt"
    first = stopped(A, b, file)
    r = furrow.solve(how(A), b, solver="cg", M="jacobi", resume=file, checkpoint=str(file))
    assert r.success and r.checkpoints == 1
    assert (r.resumed["iterations"], r.resumed["solver"], r.resumed["precond"]) == (20, "cg", "none")
    assert r.resumed["seconds"] == first.seconds["solve"]
    assert r.history[0] == pytest.approx(first.residual, rel=1e-9) == pytest.approx(r.resumed["relative_residual"])
    d = json.loads(json.dumps(r.to_dict()))
    assert (d["resumed"]["iterations"], d["checkpoints"], d["x0"]) == (20, 1, str(file))
    again = furrow.solve(A, b, solver="cg", resume=file)
    assert again.iterations == 0 and again.resumed["iterations"] == 20 + r.iterations
    assert (again.x == r.x).all()
    assert left_in(tmp_path) == ["run.ckpt"]


def test_is_the_file_of_the_command(tmp_path, system):
    A, b = system
    np.save(tmp_path / "b.npy", b)

    def command(*words):
        ran = subprocess.run([sys.executable, "-m", "furrow", "solve", "poisson2d:40", "-b", "b.npy", "--solver", "cg", "--json", *words],
                             cwd=tmp_path, capture_output=True, text=True)
        assert ran.stdout, ran.stderr
        return json.loads(ran.stdout)

    first = stopped(A, b, tmp_path / "python.ckpt")
    there = command("--resume", "python.ckpt", "--ranks", "2")
    assert (there["status"], there["resumed"]["iterations"], there["resumed"]["precond"]) == ("converged", 20, "none")
    assert there["history"][0] == pytest.approx(first.residual, rel=1e-9)
    command("--checkpoint", "command.ckpt", "--max-iterations", "20")
    r = furrow.Solver(A, "cg").solve(b, resume=tmp_path / "command.ckpt")
    assert r.success and r.resumed["iterations"] == 20 and r.resumed["precond"] == "auto"


def test_is_written_while_it_solves(tmp_path):
    A = furrow.generate("poisson2d:150")
    b, file, seen = A @ np.ones(22500), tmp_path / "run.ckpt", []

    def look(step):  # what a crash at this moment would leave
        if file.exists():
            seen.append(furrow.solve(A, b, solver="cg", resume=file, maxiter=1).resumed)

    r = furrow.solve(A, b, solver="cg", M=None, rtol=1e-10, checkpoint=file, every=1e-9, monitor=(look, 40))
    assert r.success and r.checkpoints > 2
    steps = [one["iterations"] for one in seen]
    assert steps and steps == sorted(steps) and 0 < steps[0] and steps[-1] <= r.iterations
    plain = furrow.solve(A, b, solver="cg", M=None, rtol=1e-10, monitor=(lambda step: None, 40))
    assert (plain.history == r.history).all() and (plain.x == r.x).all()
    assert left_in(tmp_path) == ["run.ckpt"]


def test_ends_with_a_checkpoint_where_it_is_interrupted(tmp_path, system):
    A, b = system

    def fail(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        furrow.solve(A, b, solver="cg", M=None, checkpoint=tmp_path / "run.ckpt", monitor=(fail, 7))
    assert raised.value.partial.checkpoints == 1
    assert furrow.solve(A, b, solver="cg", resume=tmp_path / "run.ckpt").resumed["iterations"] == 7


def test_in_single_precision(tmp_path, system):
    A, b = (v.astype(np.float32) for v in system)
    stopped(A, b, tmp_path / "run.ckpt", rtol=1e-4)
    r = furrow.solve(A, b, solver="cg", rtol=1e-4, resume=tmp_path / "run.ckpt")
    assert r.success and r.x.dtype == np.float32
    with pytest.raises(furrow.InputError, match="is a checkpoint of another matrix"):  # its entries have other bits
        furrow.solve(A.astype(float) * 1.1, b.astype(float), resume=tmp_path / "run.ckpt")


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


def test_another_system_is_refused(tmp_path, system):
    A, b = system
    file = tmp_path / "run.ckpt"
    stopped(A, b, file)
    for other, rhs, what in ((A, 2 * b, "is a checkpoint of the same matrix with another right-hand side"),
                             (2 * A, b, "is a checkpoint of another matrix of the same size"),
                             (furrow.generate("stencil2d9:40"), b, "is a checkpoint of a matrix of 7840 entries")):
        with pytest.raises(furrow.InputError, match=what):
            furrow.solve(other, rhs, resume=file)
    (tmp_path / "cut.ckpt").write_bytes(file.read_bytes()[:-9])
    for name, what in (("absent.ckpt", "there is no such file"), ("cut.ckpt", "bytes in place of"), (".", "is a directory")):
        with pytest.raises(furrow.InputError, match=what):
            furrow.solve(A, b, resume=tmp_path / name)


def test_what_does_not_go_together_is_said(tmp_path, system):
    A, b = system
    file = tmp_path / "run.ckpt"
    stopped(A, b, file)
    op = LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=float)
    two = np.stack([b, b], axis=1)
    for words, error, what in (({"every": 5}, furrow.UsageError, "name its file by checkpoint"),
                               ({"checkpoint": file, "every": 0}, furrow.UsageError, "a number above 0"),
                               ({"checkpoint": file, "every": float("nan")}, furrow.UsageError, "a number above 0"),
                               ({"checkpoint": file, "callback": print}, furrow.UsageError, "give one of them"),
                               ({"resume": file, "x0": b}, furrow.UsageError, "both say what x begins with"),
                               ({"checkpoint": tmp_path}, furrow.InputError, "is a directory"),
                               ({"checkpoint": tmp_path / "absent" / "x"}, furrow.InputError, "its folder does not exist"),
                               ({"A": op, "checkpoint": file}, furrow.UsageError, "known by its products alone"),
                               ({"b": two, "checkpoint": file}, furrow.UsageError, "leave checkpoint out"),
                               ({"b": two, "resume": file}, furrow.UsageError, "leave resume out"),
                               ({"checkpoint": 5}, TypeError, "int"), ({"resume": 5}, TypeError, "int")):
        with pytest.raises(error, match=what):
            furrow.solve(**{"A": A, "b": b, **words})


def test_one_that_cannot_be_written_is_a_warning(tmp_path, system):
    A, b = system
    (tmp_path / "folder").mkdir()
    s = furrow.Solver(A, "cg", None, checkpoint=tmp_path / "folder" / "run.ckpt", every=1e-9)
    (tmp_path / "folder").rmdir()
    with pytest.warns(furrow.SolveWarning, match="its folder does not exist: the solve goes on without this checkpoint") as heard:
        r = s.solve(b)
    assert r.success and r.checkpoints == 0 and len(heard) == 1
    assert heard[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(furrow.SolveWarning) as raised:
            s.solve(b)
    assert raised.value.partial.status == "interrupted"
