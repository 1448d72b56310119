# SPDX-License-Identifier: BSD-3-Clause
"""What a Matrix takes: little beside what it stores, and the same whichever way it was made."""
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from border_test import matrices
from hypothesis import given

import furrow

#: poisson3d:100 in arrays of SciPy: what a generator of ours gives back, the library keeps, and would take again unseen.
MEASURED = """
import furrow, numpy as np, scipy.sparse as sp, sys
furrow.threads(2)
n = 100
line = np.tile(np.append(np.ones(n - 1), 0), n * n)  # a point and the next one of its line
plane = np.tile(np.append(np.ones(n * n - n), np.zeros(n)), n)
beside = {1: line[:-1], n: plane[:-n], n * n: np.ones(n**3 - n * n)}
A = sp.diags_array([np.full(n**3, 6.0), *[-v for v in beside.values()] * 2],
                   offsets=[0, *beside, *[-k for k in beside]], format="csr")
del line, plane, beside
furrow.Matrix(furrow.generate("poisson3d:4"))
def now(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key)) * 1024
with open("/proc/self/clear_refs", "w") as peak:  # of what was before
    peak.write("5")
before = now("VmRSS")
P = furrow.Matrix(A, format=sys.argv[1])
print(now("VmHWM") - before, int(P.stats["stored_bytes"]), A.nnz, A.shape[0])
"""


@pytest.mark.parametrize("format, an_entry, a_row, meanwhile", [
    ("csr", 12, 4, 0),  # a column and a value an entry, an offset a row
    ("dia", 0, 7 * 8, 4),  # seven diagonals; while they are filled, the row of each entry
])
def test_rows_are_read_where_they_lie(format, an_entry, a_row, meanwhile):
    """The peak is what the format stores, and not a copy of the triplets, 16 bytes an entry, 111 a row; threads and the
    rest take 7 MB."""
    ran = subprocess.run([sys.executable, "-c", MEASURED, format], capture_output=True, text=True, check=True)
    grown, stored, entries, rows = map(int, ran.stdout.split())
    assert entries == 6_940_000 and rows == 1_000_000
    assert abs(stored - an_entry * entries - a_row * rows) < 100
    assert grown < stored + meanwhile * entries + 12 * rows


@given(matrices())
def test_offsets_of_any_width_make_the_same_matrix(A):
    wide = sp.csr_array(A.shape, dtype=A.dtype)
    wide.indptr, wide.indices, wide.data = A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data
    narrow = sp.csr_array(A.shape, dtype=A.dtype)
    narrow.indptr, narrow.indices, narrow.data = A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data
    x = np.random.default_rng(1).standard_normal(A.shape[1]).astype(A.dtype)
    for format in ("auto", "csr", "dia:1000"):
        P, Q = furrow.Matrix(wide, format=format), furrow.Matrix(narrow, format=format)
        assert P.stats == Q.stats and (P.format, P.kernel) == (Q.format, Q.kernel)
        assert (P @ x).tobytes() == (Q @ x).tobytes()
