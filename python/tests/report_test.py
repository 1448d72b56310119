# SPDX-License-Identifier: BSD-3-Clause
"""The page of a result: that of the command line, of every kind of end, and nothing of the input is obeyed."""
import json
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse.linalg as sla

import furrow

EVIL = "<script>alert(1)</script>\x1b[31m\"'&"
TIMED = {"furrow", "seconds", "rungs", "gbps", "ceiling_gbps", "history_seconds", "command", "rhs"}


def page_of(r, tmp_path):
    r.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 100_000 and text.count("<script") == 2 == text.count("</script>")
    return text


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def sections(text):
    """The page in its parts, without times."""
    text = re.sub(r"\b[\d.,]+ (ns|us|ms|s)\b", "TIME", text.split('<script type="application/json"')[0])
    return re.split(r"<section>", text)


def test_it_is_the_page_of_the_command_line(tmp_path, grid):
    A, b = grid
    furrow.write(tmp_path / "b.mtx", b)
    furrow.write(tmp_path / "a.mtx", A)
    subprocess.run([sys.executable, "-m", "furrow", "solve", "a.mtx", "-b", "b.mtx", "--report", "c.html"],
                   cwd=tmp_path, capture_output=True, check=True)
    theirs = (tmp_path / "c.html").read_text(encoding="utf-8")
    A = furrow.read(tmp_path / "a.mtx")
    ours = page_of(furrow.solve(A, b), tmp_path)
    head, curve, matrix, choice, speed, machine = sections(theirs)
    mine = sections(ours)
    assert [head, matrix] == [mine[0], mine[2]]
    assert choice.replace("<dd>b.mtx</dd>", "<dd>given</dd>") == mine[3]
    by_iteration, by_second = curve.split("<figure")[1:]
    assert mine[1].split("<figure")[1] == by_iteration and 'data-by="second"' in by_second
    assert "an iteration moves" in mine[4] and "that the machine reads at best" in mine[4] and "processor" in mine[5]
    a, c = data_of(ours), data_of(theirs)
    assert a.keys() == c.keys()
    assert {k: v for k, v in a.items() if k not in TIMED} == {k: v for k, v in c.items() if k not in TIMED}


def test_nothing_of_a_name_is_obeyed(tmp_path, grid):
    A, b = grid
    A.name = A.origin = EVIL
    text = page_of(furrow.solve(A, b), tmp_path)
    assert "<script>alert" not in text and "\x1b" not in text and "&lt;script&gt;alert(1)" in text
    assert "<script>alert(1)</script>" in data_of(text)["matrix"]


def test_it_says_how_a_solve_ended(tmp_path, grid):
    A, b = grid
    with pytest.warns(furrow.SolveWarning):
        refused = furrow.cg(-A, b)
    short = furrow.cg(A, b, maxiter=3)
    stagnated = furrow.cg(furrow.generate("poisson1d:2000"), np.random.default_rng(1).standard_normal(2000),
                          rtol=1e-16, maxiter=10**6)
    assert stagnated.status == "stagnated"
    for r, verdict in ((refused, "Not positive definite"), (short, "Stopped short"), (stagnated, "Stagnated")):
        text = page_of(r, tmp_path)
        assert f'<h1 class="bad">{verdict}</h1>' in text and "What to do next" in text
        assert data_of(text)["status"] == r.status


def test_the_largest_error_is_told(tmp_path, grid):
    A, b = grid
    r = furrow.solve(A, b)
    assert data_of(page_of(r, tmp_path))["relative_error"] is None
    r.error = float(abs(r.x - 1).max())
    assert data_of(page_of(r, tmp_path))["relative_error"] == r.error == r.to_dict()["relative_error"]


def test_of_any_matrix(tmp_path, grid):
    A, b = grid
    picture = 'class="pair"><div><dl>'
    for matrix in (furrow.Matrix(A), A.toarray(), A.astype(np.float32), A.tocoo()):
        text = page_of(furrow.cg(matrix, b.astype(matrix.dtype)), tmp_path)
        assert "1,920" in text and "symmetric" in text and picture in text
    text = page_of(furrow.cg(sla.aslinearoperator(A), b), tmp_path)
    assert "known by its products alone" in text and "400 × 400" in text


def test_a_result_that_was_pickled(tmp_path, grid):
    A, b = grid
    r = furrow.solve(A, b)
    again = pickle.loads(pickle.dumps(r))
    assert "not kept with this result" in page_of(again, tmp_path)
    assert again.to_dict() == r.to_dict() and (again.x == r.x).all()
    whole = page_of(r, tmp_path)
    assert sections(page_of(pickle.loads(pickle.dumps(r)), tmp_path))[2] == sections(whole)[2]


def test_a_file_that_cannot_be_written(tmp_path, grid):
    A, b = grid
    with pytest.raises(furrow.InputError, match="none"):
        furrow.solve(A, b).report(tmp_path / "none" / "r.html")
    with pytest.raises(TypeError):
        furrow.solve(A, b).report(3)
