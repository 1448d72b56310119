# SPDX-License-Identifier: BSD-3-Clause
"""Examples of docstrings, of the documentation and of examples/python run; every public name has one."""
import doctest
import importlib
import pathlib
import subprocess
import sys

import pytest

import furrow

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["furrow"] + [f"furrow.{name}" for name in (
    "_matrix", "_solve", "_result", "_inputs", "_dense", "_config", "_errors", "chebyshev", "scipy_compat")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0 and found.failed == 0


def test_methods_have_examples_of_their_own():
    assert furrow.cg.__doc__.count(">>>") >= 4


@pytest.mark.parametrize("name", [n for n in furrow.__all__ if n not in ("chebyshev", "scipy_compat")])
def test_every_public_name_is_explained(name):
    assert len(getattr(furrow, name).__doc__ or "") > 20


def test_page():
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert found.attempted > 10 and found.failed == 0


@pytest.mark.parametrize("script", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda p: p.stem)
def test_gallery(script, tmp_path):
    ran = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                         check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
