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

MEASURED = """
import furrow, sys
A = furrow.generate("poisson3d:80")
furrow.Matrix(furrow.generate("poisson3d:4"))
def now(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key)) * 1024
with open("/proc/self/clear_refs", "w") as peak:  # of what was before
    peak.write("5")
before = now("VmRSS")
P = furrow.Matrix(A, format=sys.argv[1])
print((now("VmHWM") - before) / P.stats["stored_bytes"])
"""


@pytest.mark.parametrize("format, most", [("csr", 1.3), ("dia", 1.8)])
def test_rows_are_read_where_they_lie(format, most):
    ran = subprocess.run([sys.executable, "-c", MEASURED, format], capture_output=True, text=True, check=True)
    assert float(ran.stdout) < most


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
