# SPDX-License-Identifier: BSD-3-Clause
"""The page of a result, and what a notebook shows, in a browser: nothing is fetched or complained of, all is drawn where it
can be read, on a telephone and a desk, by day and by night. FURROW_PICTURES names a folder for pictures of them, to look at."""
import os
import pathlib
import sys

import numpy as np
import pytest

import furrow

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/kit"))
import browser as kit  # noqa: E402

pytestmark = pytest.mark.skipif(not kit.PROGRAM, reason=kit.MISSING)
WIDTHS, SCHEMES = (390, 400, 1200), ("light", "dark")

#: Words that cannot be told from what is behind them, or are too small: [words, contrast, height in pixels].
UNREADABLE = """(() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = e => { while (e && numbers(getComputedStyle(e).backgroundColor)[3] === 0) e = e.parentElement;
                        return e ? numbers(getComputedStyle(e).backgroundColor) : [255, 255, 255]; };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = walk.nextNode();) {
    const e = node.parentElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (!node.data.trim() || ["SCRIPT", "STYLE", "title"].includes(e.tagName) || box.width === 0) continue;
    const ink = light(numbers(e.namespaceURI.endsWith("svg") ? style.fill : style.color)), paper = light(behind(e));
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    const high = parseFloat(style.fontSize) * (e.ownerSVGElement ? e.ownerSVGElement.getScreenCTM().a : 1);
    if (contrast < 4.5 || high < 8) found.push([node.data.trim().slice(0, 40), contrast, high]);
  }
  return found;
})()"""
#: Of each picture that is there: [width, height, how far it reaches to the right, marks it has drawn with a size].
PICTURES = """[...document.querySelectorAll("svg")].map(s => [s.getBoundingClientRect(), s]).filter(([b]) => b.width > 0)
  .map(([b, s]) => [b.width, b.height, b.right, [...s.querySelectorAll("path,rect,line")].filter(m => {
    const r = m.getBoundingClientRect(); return r.width > 0 || r.height > 0; }).length])"""
#: What reaches over the right edge.
OVER = """[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => e.tagName)"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with kit.Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of solves that ended in every way that matters, by the first word."""
    folder = tmp_path_factory.mktemp("pages")
    A, line = furrow.generate("poisson2d:40"), furrow.generate("poisson1d:2000")
    ones = np.ones(A.shape[0])
    with pytest.warns(furrow.SolveWarning):
        refused = furrow.cg(-A, ones)
    results = {
        "Converged": furrow.cg(A, A @ ones, rtol=1e-8),
        "Not positive definite": refused,
        "Stagnated": furrow.cg(line, np.random.default_rng(1).standard_normal(2000), rtol=1e-16, maxiter=10**6),
        "Ladder": furrow.solve(furrow.generate("random:400:12"), np.ones(400)),
    }
    for word, r in results.items():
        r.report(folder / f"{word}.html")
    return {word: (r, (folder / f"{word}.html").as_uri()) for word, r in results.items()}


def keep(page, name):
    if folder := os.environ.get("FURROW_PICTURES"):
        page.picture(pathlib.Path(folder) / f"{name}.png")


def check_readable(page, width):
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.evaluate(OVER)
    assert page.evaluate("innerWidth") == width  # a telephone makes room for what is wider than it
    assert page.evaluate(UNREADABLE) == []
    pictures = page.evaluate(PICTURES)
    for wide, high, right, marks in pictures:
        assert wide > 200 and high > 150 and right <= width and marks > 5
    return len(pictures)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("word", ["Converged", "Not positive definite", "Stagnated", "Ladder"])
def test_a_page_is_drawn_and_readable(chromium, pages, word, width, scheme):
    r, url = pages[word]
    page = chromium.open(url, width=width, dark=scheme == "dark")
    keep(page, f"{word}-{width}-{scheme}")
    # One of the curves, the entries, and how long rows are, where they differ.
    assert check_readable(page, width) == (2 if "entries each" in page.evaluate("document.body.innerText") else 3)
    assert page.said == [] and page.requests == [url]
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    assert data["status"] == r.status and data["relative_residual"] == r.residual
    assert data["seconds"]["parts"] == r.to_dict()["seconds"]["parts"]
    first = page.evaluate("document.body.innerText.trim().split('\\n')[0]")
    assert first == word or word == "Ladder"
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 24, 31)" if scheme == "dark" else "rgb(255, 255, 255)")


TOLD = "document.querySelector('output').textContent"
SHOWN = "[...document.querySelectorAll('.curves figure')].filter(f => f.getBoundingClientRect().width > 0).map(f => f.dataset.by)"


def middle(page, selector):
    return page.evaluate(f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{block: 'center'}});"
                         "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_pointer_and_the_switch(chromium, pages, width):
    r, url = pages["Converged"]
    page = chromium.open(url, width=width)
    assert page.evaluate(SHOWN) == ["iteration"]
    page.move(*middle(page, "figure[data-by=iteration]"))
    iteration, residual, after = page.evaluate(TOLD).split("\n")
    k = int(iteration.removeprefix("iteration "))
    assert 0 < k < r.iterations
    assert float(residual.removeprefix("residual ")) == pytest.approx(r.history[k], rel=1e-3)
    assert after.startswith("after ")
    # The mark is on the curve, within a pixel of it.
    off = page.evaluate("""(() => {
      const figure = document.querySelector("figure[data-by=iteration]"), dot = figure.querySelector(".mark circle");
      const [x, y] = ["cx", "cy"].map(n => Number(dot.getAttribute(n)));
      const ends = [...figure.querySelectorAll("path")].flatMap(p => [...p.getAttribute("d").matchAll(/([\\d.]+) ([\\d.]+)/g)]);
      return Math.min(...ends.map(([, px, py]) => Math.hypot(px - x, py - y)));
    })()""")
    assert off < 1
    page.press("ArrowRight")  # not in the figure yet
    assert page.evaluate(TOLD).split("\n")[0] == f"iteration {k}"
    page.evaluate("document.querySelector('figure').focus()")
    page.press("ArrowRight")
    assert page.evaluate(TOLD).split("\n")[0] == f"iteration {k + 1}"
    page.press("End")
    assert page.evaluate(TOLD).split("\n")[0] == f"iteration {r.iterations}"
    page.click(*middle(page, "input[value=second]"))
    assert page.evaluate(SHOWN) == ["second"] and check_readable(page, width) == 3
    page.move(*middle(page, "figure[data-by=second]"))
    keep(page, f"by-second-{width}")
    seconds = page.evaluate(TOLD).split("\n")[2]
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1}[seconds.split()[-1]]
    assert 0 < float(seconds.split()[1]) * unit <= r.history_seconds[-1] * 1.01
    assert page.said == [] and page.requests == [url]


def test_without_scripts_and_on_paper_both_curves_are_there(chromium, pages):
    r, url = pages["Converged"]
    page = chromium.open(url, width=1200, scripts=False)
    assert page.evaluate(SHOWN) == ["iteration", "second"] and check_readable(page, 1200) == 4
    assert page.evaluate("document.querySelector('input, output')") is None
    assert "iteration 0: 1" in page.evaluate("document.querySelector('figure').textContent")  # a mouse sees titles
    page = chromium.open(url, width=794, dark=True)  # A4 at 96 pixels an inch
    assert page.evaluate(SHOWN) == ["iteration"]
    page.show(794, dark=True, media="print")
    assert page.evaluate(SHOWN) == ["iteration", "second"] and check_readable(page, 794) == 4
    assert page.evaluate("document.querySelector('.aside').getBoundingClientRect().height") == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    keep(page, "paper")


def test_no_script_but_its_own_runs(chromium, pages, tmp_path):
    """What a name smuggled into the page would not be obeyed even if it were not escaped."""
    _, url = pages["Converged"]
    text = pathlib.Path(url.removeprefix("file://").replace("%20", " ")).read_text(encoding="utf-8")
    (tmp_path / "r.html").write_text(text.replace("<footer>", "<img src=x onerror='document.title=1'><script>document.title=2</script>"
                                                  "<footer>"), encoding="utf-8")
    page = chromium.open((tmp_path / "r.html").as_uri())
    assert page.evaluate("document.title").startswith("Converged") and len(page.said) >= 2
    assert all("Content Security Policy" in words for words in page.said), page.said


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_notebook_shows_results_and_matrices(chromium, tmp_path, width, scheme):
    A = furrow.generate("poisson2d:40")
    r = furrow.solve(A, A @ np.ones(1600))
    colours = "background:#111;color:#eee" if scheme == "dark" else "background:#fff;color:#111"
    for name, what, pictures in (("result", r, 2), ("matrix", furrow.Matrix(A), 1),
                                 ("operator", furrow.cg(lambda_operator(A), np.ones(1600)), 1)):
        file = tmp_path / f"{name}.html"
        file.write_text("<!DOCTYPE html><meta charset=utf-8><meta name=viewport content='width=device-width'><title>cell</title>"
                        f"<body style='margin:8px;font:14px sans-serif;{colours}'>{what._repr_html_()}", encoding="utf-8")
        page = chromium.open(file.as_uri(), width=width, dark=scheme == "dark")
        keep(page, f"notebook-{name}-{width}-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.evaluate(OVER)
        found = page.evaluate(PICTURES)
        assert len(found) == pictures and all(w > 200 and h > 150 and marks > 5 for w, h, _, marks in found)
        assert page.said == [] and page.requests == [file.as_uri()]
        words = page.evaluate("document.body.innerText")
        assert ("1,600 × 1,600" if name == "matrix" else "Converged") in words


def lambda_operator(A):
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=float)
