# SPDX-License-Identifier: BSD-3-Clause
"""Reading and writing."""
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


@pytest.mark.parametrize("ending", [".npz", ".mat", ".furrow", ".npy.gz"])
def test_a_vector_is_not_written_under_a_name_that_promises_another_format(tmp_path, ending):
    with pytest.raises(furrow.UsageError, match="a vector is written as .mtx, .npy"):
        furrow.write(tmp_path / f"x{ending}", np.ones(3))
    assert not list(tmp_path.iterdir())
