# SPDX-License-Identifier: BSD-3-Clause
"""Types of the package and of the examples, under `mypy --strict`: pyproject.toml has its options."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("what", [["-p", "furrow"], ["examples/python"]], ids=["package", "examples"])
def test_types(what, tmp_path):
    ran = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), *what], cwd=ROOT,
                         capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
