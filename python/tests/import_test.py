# SPDX-License-Identifier: BSD-3-Clause
"""Importing costs little beside SciPy, and reads nothing that it does not need."""
import json
import os
import statistics
import subprocess
import sys

import pytest

MEASURED = """
import json, sys, time
import scipy.sparse.linalg
before, began = set(sys.modules), time.process_time()
import furrow
print(json.dumps([time.process_time() - began, sorted(set(sys.modules) - before)]))
"""


def measure(tmp_path):
    """(seconds of the processor, modules) that the import takes beside SciPy's, from compiled files as an installed package has."""
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return json.loads(subprocess.run([sys.executable, "-c", MEASURED], env=env, capture_output=True, text=True, check=True).stdout)


def test_import_takes_less_than_50_ms(tmp_path):
    runs = int(os.environ.get("FURROW_IMPORTS", "5"))
    measure(tmp_path)
    seconds = [measure(tmp_path)[0] for _ in range(runs)]
    print(f"import furrow: {1e3 * statistics.median(seconds):.1f} ms beside SciPy, the median of {runs}")
    assert min(seconds) < 0.050  # what others do on the machine makes it longer, and nothing shorter


def test_import_brings_nothing_else(tmp_path):
    """Only the package, and what it is made of: no plots, no compiler, no tests."""
    others = {name.partition(".")[0] for name in measure(tmp_path)[1]} - {"furrow"}
    assert others <= {"html", "nanobind_backend", "_nanobind_backend"}, others


SUB_INTERPRETER = """
import sys
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
code = "import sys; sys.path[:] = " + repr(sys.path) + chr(10) + '''
try:
    import furrow
except ImportError as e:
    print(e)
'''
run(interpreters.create(), code)
import furrow
print(furrow.solve(furrow.generate("poisson1d:20"), [1.0] * 20).status)
"""


def test_a_sub_interpreter_is_refused_with_a_sentence():
    """It hung; and the main interpreter is served behind it."""
    done = subprocess.run([sys.executable, "-c", SUB_INTERPRETER], capture_output=True, text=True, timeout=60, check=False)
    if "No module named '_xxsubinterpreters'" in done.stderr:
        pytest.skip("this Python has no module for sub-interpreters")
    assert done.returncode == 0, done.stderr
    said, solved = done.stdout.splitlines()
    assert said.startswith("furrow cannot be imported in a sub-interpreter"), said
    assert solved == "converged"


def test_a_variable_that_makes_no_sense_is_said():
    def imported(**more):
        return subprocess.run([sys.executable, "-c", "import furrow"], env={**os.environ, **more}, capture_output=True, text=True, check=True).stderr

    assert "SolveWarning: FURROW_GRAPHS=maybe: choose off, or leave it unset" in imported(FURROW_GRAPHS="maybe")
    assert imported(FURROW_GRAPHS="off") == ""
