# SPDX-License-Identifier: BSD-3-Clause
"""Types of the package and of the examples, under `mypy --strict`, and stubs against the package: pyproject.toml has the options."""
import pathlib
import re
import subprocess
import sys

import pytest

import furrow

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("what", [["-p", "furrow"], ["examples/python"]], ids=["package", "examples"])
def test_types(what, tmp_path):
    ran = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), *what], cwd=ROOT,
                         capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_stubs_are_those_of_the_package(tmp_path):
    assert (pathlib.Path(furrow.__file__).parent / "__init__.pyi").exists(), "no stubs: build the target furrow_stubs"
    ran = subprocess.run([sys.executable, "-m", "mypy.stubtest", "furrow", "--allowlist", "python/tests/stubtest.txt",
                          "--ignore-unused-allowlist", "--mypy-config-file", "pyproject.toml"], cwd=ROOT, capture_output=True,
                         text=True, timeout=240, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_functions_that_are_made_have_types(tmp_path):
    """A caller's mistakes are seen: results are `Result`, arguments have names and types."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import furrow\nr: int = furrow.cg([[1.0]], [1.0])\nfurrow.gmres([[1.0]], [1.0], restrat=5)\n"
                     "furrow.solve([[1.0]], [1.0], rtol='small')\n")
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(wrong)], cwd=ROOT,
                         capture_output=True, text=True, timeout=120, check=False)
    assert re.findall(r": error: .*\[(.*)\]", ran.stdout) == ["assignment", "call-arg", "arg-type"], ran.stdout
