# SPDX-License-Identifier: BSD-3-Clause
"""Reading and writing."""
import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

import furrow


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


def test_a_comment_is_written_or_refused(tmp_path, grid):
    A, b = grid
    furrow.write(tmp_path / "a.mtx", A, comment="hello")
    assert "%hello" in (tmp_path / "a.mtx").read_text().replace(" ", "")
    for name, what in (("a.furrow", A), ("a.petsc", A), ("x.mtx", b), ("x.txt", b)):
        with pytest.raises(furrow.UsageError, match=f"{name}: a .*comment.*: leave comment out"):
            furrow.write(tmp_path / name, what, comment="hello")
    assert [file.name for file in tmp_path.iterdir()] == ["a.mtx"]


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


@pytest.mark.parametrize("name", ["x.txt.gz", "x.CSV.GZ", "x.mtx.gz"])
def test_a_vector_is_written_packed(tmp_path, name):
    x = np.array([0.1, 1e300, -3])
    furrow.write(tmp_path / name, x)
    assert (tmp_path / name).read_bytes()[:2] == b"\x1f\x8b"
    assert gzip.open(tmp_path / name, "rt").read().split()[-3:] == ["0.1", "1e+300", "-3"]


def test_columns_of_vectors_are_written_as_an_array(tmp_path, grid):
    A, b = grid
    r = furrow.solve(A, np.stack([b, 2 * b], axis=1))
    for X in (r.x, np.asfortranarray(r.x), r.x[:, :1], r.x.astype(np.float32)[::2], [[1, 2], [3, 4]]):
        furrow.write(tmp_path / "X.npy", X)
        np.testing.assert_array_equal(np.load(tmp_path / "X.npy").reshape(np.shape(X)), X)
    for wrong in (np.ones((2, 2, 2)), np.ones((3, 0)), 1.0):
        with pytest.raises(furrow.UsageError, match=r"x is of shape .*: a vector or columns of vectors are written"):
            furrow.write(tmp_path / "Y.npy", wrong)
    with pytest.raises(furrow.UsageError, match="and columns of vectors as .npy: choose one of these endings"):
        furrow.write(tmp_path / "Y.txt", r.x)
    assert [f.name for f in tmp_path.iterdir()] == ["X.npy"]


@pytest.mark.parametrize("ending", [".npz", ".mat", ".furrow", ".npy.gz"])
def test_a_vector_is_not_written_under_a_name_that_promises_another_format(tmp_path, ending):
    with pytest.raises(furrow.UsageError, match="a vector is written as .mtx, .npy"):
        furrow.write(tmp_path / f"x{ending}", np.ones(3))
    assert not list(tmp_path.iterdir())


def test_a_cache_has_the_name_of_its_file(tmp_path, grid):
    A, _ = grid
    furrow.write(tmp_path / "grid.furrow", A)
    again = furrow.read(tmp_path / "grid.furrow")
    assert (again.name, again.origin) == ("grid", "written by Python")


def test_endings_in_any_case(tmp_path, grid):
    A, b = grid
    for ending in ("mtx", "mtx.gz", "petsc", "furrow"):
        small, large = tmp_path / f"a.{ending}", tmp_path / f"A.{ending.upper()}"
        furrow.write(small, A)
        furrow.write(large, A)
        assert len(large.read_bytes()) == len(small.read_bytes()) and (furrow.read(large) != A).nnz == 0
    furrow.write(tmp_path / "B.MTX", A, "said")
    with pytest.raises(furrow.UsageError, match="x.HTML: a vector is written as"):
        furrow.write(tmp_path / "x.HTML", b)


def test_names_that_are_no_utf_8(tmp_path, grid):
    """As Linux allows them, and os.listdir hands them out."""
    A, b = grid
    folder = os.fsencode(tmp_path)
    try:
        open(os.path.join(folder, b"probe\xff"), "w").close()
    except OSError:
        pytest.skip("this file system wants UTF-8")
    name = os.fsdecode(os.path.join(folder, b"a\xff.mtx"))
    furrow.write(name, A)
    again = furrow.read(name)
    assert (abs(again - A)).nnz == 0 and again.name == "a?"
    assert furrow.info(name)["shape"] == A.shape
    furrow.write(os.fsdecode(os.path.join(folder, b"x\xff.txt")), b)
    kept = os.fsdecode(os.path.join(folder, b"c\xff.ckpt"))
    furrow.solve(A, b, checkpoint=kept)
    r = furrow.solve(A, b, resume=kept)
    assert r.resumed["iterations"] > 0
    r.report(os.fsdecode(os.path.join(folder, b"r\xff.html")))
    assert {b"a\xff.mtx", b"x\xff.txt", b"c\xff.ckpt", b"r\xff.html"} <= set(os.listdir(folder))
    with pytest.raises(furrow.InputError, match=r"none\?\.mtx: there is no such file"):
        furrow.read(os.fsdecode(os.path.join(folder, b"none\xff.mtx")))


def test_a_name_with_a_nul_is_that_of_no_file(tmp_path, grid):
    """The system would take it for the name that ends there."""
    A, b = grid
    other = tmp_path / "other"
    other.write_text("precious")
    name = str(other) + "\0.mtx"
    for call in (lambda: furrow.write(name, A), lambda: furrow.write(str(other) + "\0.txt", b), lambda: furrow.read(name),
                 lambda: furrow.info(name), lambda: furrow.solve(A, b, checkpoint=str(other) + "\0"),
                 lambda: furrow.solve(A, b, resume=name), lambda: furrow.solve(A, b).report(name)):
        with pytest.raises(furrow.UsageError, match="is no name of a file: it holds a NUL character"):
            call()
    with pytest.raises(furrow.UsageError, match="is no name of a file: it holds half a character"):
        furrow.read("a\ud800.mtx")
    assert other.read_text() == "precious" and os.listdir(tmp_path) == ["other"]


@pytest.mark.parametrize("ending", ["txt", "csv", "TXT", "txt.gz", "csv.gz"])
def test_a_vector_that_would_be_an_empty_file_is_not_written(tmp_path, ending):
    with pytest.raises(furrow.UsageError, match=f"x.{ending}: a vector without elements would be an empty file"):
        furrow.write(tmp_path / f"x.{ending}", [])
    assert not list(tmp_path.iterdir())
    for other in ("mtx", "npy", "petsc"):
        furrow.write(tmp_path / f"x.{other}", [])
        assert (tmp_path / f"x.{other}").stat().st_size > 0
