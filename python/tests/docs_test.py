# SPDX-License-Identifier: BSD-3-Clause
"""Examples of docstrings, of the documentation and of examples/python run; every public name has one."""
import doctest
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

import furrow

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["furrow"] + [f"furrow.{name}" for name in (
    "_matrix", "_solver", "_solve", "_result", "_inputs", "_dense", "_config", "_errors", "chebyshev", "scipy_compat")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0 and found.failed == 0


def public():
    """(name, thing) of all that a person may use: the names of the modules, and what classes among them add."""
    for module in (furrow, furrow.chebyshev, furrow.scipy_compat):
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            for member in sorted(dir(thing)) if isinstance(thing, type) else ():
                owner = next(c for c in thing.__mro__ if member in vars(c))
                value = vars(owner)[member]
                if not member.startswith("_") and owner.__module__.startswith("furrow") and not isinstance(value, int):
                    yield f"{module.__name__}.{name}.{member}", value


PUBLIC = list(public())


@pytest.mark.parametrize("name, thing", PUBLIC, ids=[name for name, _ in PUBLIC])
def test_every_public_name_has_an_example_that_runs(name, thing):
    text = thing.__doc__ or ""
    if not (callable(thing) or inspect.ismodule(thing)):  # an attribute: its class shows it
        assert len(text) > 4 or inspect.ismemberdescriptor(thing)
        return
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    said = []
    found = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert found.attempted > 0, "there is no example"
    assert found.failed == 0, "".join(said)


def test_the_walk_sees_all_there_is():
    names = {name for name, _ in PUBLIC}
    assert {"furrow.cg", "furrow.Matrix.T", "furrow.Matrix.shape", "furrow.Result.report", "furrow.Solver.solve", "furrow.Step.x",
            "furrow.chebyshev.Density.count_below", "furrow.scipy_compat.gmres"} <= names
    assert len(names) > 80
    here = {name for name in vars(furrow) if not name.startswith("_") and name != "annotations"}
    assert here - set(furrow.__all__) <= {"Any", "default_device"}
    assert {name for name in dir(furrow) if not name.startswith("_")} == {*furrow.__all__, "default_device"}


def examples_of_page(with_gpu):
    """Of docs/python.md, with or without those of its section on GPUs."""
    before, section, after = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").partition("\n## On a GPU\n")
    assert section
    on_gpu, following, after = after.partition("\n## ")
    text = before + (on_gpu if with_gpu else "") + following + after
    runner = doctest.DocTestRunner()
    return runner.run(doctest.DocTestParser().get_doctest(text, {}, "python.md", None, 0))


def test_page():
    found = examples_of_page(with_gpu=False)
    assert found.attempted > 10 and found.failed == 0


@pytest.mark.parametrize("page", ["chebyshev.md", "gemv.md"])
def test_other_pages(page):
    """Of pages of the library, what they say of Python."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, {}, page, None, 0))
    assert found.attempted > 3 and found.failed == 0


def test_first_screen():
    """The lines of README, which stand before what the demo prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.findall(r"```python\n(.*?)```", text, re.S)[0]
    assert text.index(block) < text.index("Converged in")
    seen = {}
    exec(block, seen)
    assert seen["info"] == 0 and abs(seen["x"] - 1).max() < 1e-2


def test_page_on_a_gpu():
    if len(furrow.devices()) < 2:
        pytest.skip("no GPU")
    pytest.importorskip("cupy")
    found = examples_of_page(with_gpu=True)
    assert found.attempted > 20 and found.failed == 0


@pytest.mark.parametrize("script", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda p: p.stem)
def test_gallery(script, tmp_path):
    """Each script runs, says something, and draws the picture that is kept beside it."""
    images = pytest.importorskip("matplotlib.image")
    ran = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                         env={**os.environ, "MPLBACKEND": "agg"}, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    drawn = images.imread(tmp_path / f"{script.stem}.png")
    kept = images.imread(script.parent / "pictures" / f"{script.stem}.png")
    assert drawn.shape == kept.shape and drawn.std() > 0.05
    assert abs(drawn - kept).mean() < 0.01, f"{script.stem}.png is not what examples/python/pictures shows"
