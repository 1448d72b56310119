# SPDX-License-Identifier: BSD-3-Clause
"""The page that `solve --report` writes: whole, harmless, complete, and readable where a browser is found."""
import base64
import hashlib
import html.parser
import json
import math
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

from kit import Case, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit"))
import browser  # noqa: E402

CPU = ("--device", "cpu", "--threads", "2")
VOID = {"meta", "br"}
FIGURES = {"data-by": r"iteration|second", "data-box": r"[-+.e\d]+( [-+.e\d]+){7}"}  # what the script reads
NAMESPACE = "http://www.w3.org/2000/svg"
EVIL = "<script>alert(1)<\x1b[31m\"'&b.mtx"
MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n"


class Page(html.parser.HTMLParser):
    """The elements of a page, its words, and what does not belong there."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.mistakes, self.data = [], [], [], [], ""
        self.feed(text)
        self.close()
        if self.open:
            self.mistakes.append(f"open at the end: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.mistakes.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.data += data if self.tags[-1][1] else ""  # not the script that runs
        elif not self.open or self.open[-1] != "style":
            self.words.append(data)

    def names(self):
        return [tag for tag, _ in self.tags]

    def text(self):
        return " ".join(" ".join(self.words).split())


def strict(text):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


class Report(Case):
    def page(self, name):
        text = (self.folder / name).read_text()
        self.assertLess(len(text.encode()), 100_000)
        page = Page(text)
        self.assertEqual(page.mistakes, [])
        self.assertNotRegex(text.replace(NAMESPACE, ""), r"https?:|//[a-z]|@import|url\(")
        for tag, attributes in page.tags:
            self.assertNotIn(tag, ("link", "img", "iframe", "object", "embed", "base", "form"))
            for key, value in attributes.items():
                self.assertNotIn(key, ("src", "href", "xlink:href", "srcset"))
                self.assertFalse(key.startswith("on"), key)
                self.assertNotRegex(value or "", r"\b(nan|inf)\b")
        self.assertNotRegex(page.text(), r"(?<![\w.])-?(nan|inf)\b(?! or|,)")
        self.assertEqual([a for t, a in page.tags if t == "script"], [{"type": "application/json", "id": "data"}, {}])
        # The one script that may run is the one that is there.
        script = re.search(r"<script>(.*?)</script>", text, re.S)[1]
        policy, = (a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
        hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        self.assertEqual(policy, f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hashed}'",
                         "src/report/script.hpp: the policy names another script")
        self.assertNotRegex(script, r"innerHTML|insertAdjacent|document\.write|eval|fetch|XMLHttp|import|Function")
        for figure in (a for t, a in page.tags if t == "figure" and a):
            self.assertEqual(figure.keys(), FIGURES.keys())
            for key, pattern in FIGURES.items():
                self.assertRegex(figure[key], f"^({pattern})$")
        self.assertEqual(page.names().count("h1"), 1)
        self.assertEqual([n for n in page.names() if n in ("h1", "h2")], ["h1"] + ["h2"] * 5)
        for k, (tag, attributes) in enumerate(page.tags):
            if tag == "svg":
                self.assertEqual(attributes["role"], "img")
                self.assertEqual(page.tags[k + 1][0], "title")
        return page, strict(page.data)

    def test_a_solve_that_converged(self):
        done = self.furrow("solve", "poisson2d:30", *CPU, "--solver", "cg", "--report", "r.html")
        self.assertIn("report      r.html", done.stdout)
        page, data = self.page("r.html")
        words = page.text()
        for word in ("Converged", "Convergence", "The matrix", "What was chosen, and why", "Time and traffic",
                     "900 × 900", "symmetric", "cg with jacobi", "recomputed from x", "processor", "goal 1e-08",
                     "that the machine reads at best", "A times ones", "Ritz values",
                     "product with the matrix", "Rows by their number of entries"):
            self.assertIn(word, words)
        self.assertNotIn("What to do next", words)
        self.assertEqual(page.names().count("svg"), 4)  # by iteration, by second, row lengths, the entries
        self.assertEqual(data["status"], "converged")
        smallest, largest = data["ritz"]
        self.assertAlmostEqual(largest / smallest, data["condition_estimate"])
        self.assertTrue(0 < data["product_bytes"] < data["bytes_per_iteration"])
        self.assertEqual(data["history_iterations"][-1], data["iterations"])
        self.assertEqual(len(data["history"]), len(data["history_seconds"]))
        self.assertLess(data["relative_residual"], 1e-8)

    def test_the_command_gives_the_answer_again(self):
        self.write("my matrix's.mtx", MATRIX)
        self.furrow("solve", "my matrix's.mtx", *CPU, "--report", "r.html")
        page, data = self.page("r.html")
        command = shlex.split(data["command"])
        self.assertEqual(command, ["furrow", "solve", "my matrix's.mtx", *CPU, "--report", "r.html"])
        self.assertIn(data["command"], page.text())

    def test_the_ladder(self):
        self.furrow("solve", "convection2d:20:50", *CPU, "--report", "r.html")
        page, data = self.page("r.html")
        self.assertEqual(page.names().count("li"), len(data["rungs"]))
        self.assertGreater(len(data["rungs"]), 0)
        for rung in data["rungs"]:
            self.assertIn(" ".join(rung["outcome"].split())[1:], page.text())

    def test_solves_that_stopped_short(self):
        self.furrow("solve", "poisson2d:40", *CPU, "--solver", "cg", "--max-iterations", "5", "--report", "short.html", code=1)
        page, data = self.page("short.html")
        self.assertEqual(data["status"], "max_iterations")
        self.assertIn("What to do next: Allow more iterations", page.text())
        self.write("wrong.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 5\n2 2 2\n")
        self.furrow("solve", "wrong.mtx", *CPU, "--solver", "cg", "--report", "wrong.html", code=1)
        self.assertIn("Take minres", self.page("wrong.html")[0].text())
        self.write("odd.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n")
        self.furrow("solve", "odd.mtx", *CPU, "--report", "odd.html", code=1)
        page, data = self.page("odd.html")
        self.assertEqual((data["status"], data["relative_residual"]), ("nan", None))

    def test_any_matrix_is_a_small_page(self):
        for spec in ("random:3000:40", "dense:1", "dense:300", "poisson1d:20000"):
            self.furrow("solve", spec, *CPU, "--solver", "cg", "--rtol", "1e-4", "--report", "r.html")
            self.page("r.html")

    def test_names_are_words_and_nothing_else(self):
        self.write(EVIL, MATRIX)
        self.furrow("solve", EVIL, *CPU, "--report", "r.html")
        page, data = self.page("r.html")
        text = (self.folder / "r.html").read_text()
        self.assertNotIn("\x1b", text)
        self.assertNotIn("<script>alert", text)
        self.assertIn("<script>alert(1)<", page.text())  # as words
        self.assertIn("$'<script>alert(1)<\\x1b[31m\"\\'&b.mtx'", data["command"])
        bash = subprocess.run(["bash", "-c", "printf '%s\\n' " + data["command"]], capture_output=True, text=True)
        self.assertEqual(bash.stdout.splitlines()[2], EVIL)

    def test_it_is_written_as_all_outputs(self):
        for words in (("--report", "r.png"), ("--report", "r.html", "--plot", "./r.html"), ("--report", "-", "--json"),
                      ("--report", "-", "-o", "-"), ("--report", "none/r.html")):
            self.assertTrue(self.furrow("solve", "poisson2d:5", *words, code=3 if "none/" in words[1] else 2).stderr)
        self.assertEqual(list(self.folder.iterdir()), [])
        done = self.furrow("solve", "poisson2d:5", *CPU, "--report", "-")
        self.assertEqual(Page(done.stdout).mistakes, [])
        self.assertIn("Converged", done.stderr)
        done = self.furrow("solve", "poisson2d:5", *CPU, "--report", "/dev/full", code=3)
        self.assertIn("Converged", done.stdout)

    def test_what_was_expected_and_where_the_time_went(self):
        self.furrow("solve", "poisson2d:130", *CPU, "--solver", "cg", "--report", "r.html")
        page, data = self.page("r.html")
        expected = data["expected_products"]
        self.assertEqual((expected[0]["format"], expected[0]["kernel"]), (data["format"], data["kernel"]))
        seconds = [one["seconds"] for one in expected]
        self.assertTrue(len(seconds) >= 4 and seconds == sorted(seconds) and seconds[0] > 0)
        words = page.text()
        self.assertIn(f"{data['format']} ({data['kernel']}), taken", words)
        for one in expected[1:4]:
            self.assertIn(f"{one['format']} ({one['kernel']}) ", words)
        self.assertNotIn(f"{expected[4]['format']} ({expected[4]['kernel']})", words)
        parts = data["seconds"]["parts"]
        self.assertLessEqual({"check", "look", "choose", "symmetry", "precond", "convert"}, parts.keys())
        self.assertLessEqual(sum(parts.values()), data["seconds"]["setup"] * 1.001)
        self.assertIn("set-up: looking at the matrix", words)
        named = self.furrow("solve", "poisson2d:60", *CPU, "--solver", "cg", "--format", "coo", "--report", "r.html")
        self.assertIn("coo", named.stdout)
        self.assertRegex(self.page("r.html")[0].text(), r"coo \(\w+\), taken")

    def test_a_long_history_is_thinned_as_far_as_it_must(self):
        self.furrow("solve", "poisson1d:3000", *CPU, "--solver", "cg", "--precond", "none", "--rtol", "1e-15", "-b",
                    self.random(3000), "--max-iterations", "9000", "--report", "r.html", code=1)
        _, data = self.page("r.html")
        kept = data["history_iterations"]
        self.assertTrue(600 < len(kept) <= 2000 and kept[0] == 0 and kept[-1] == data["iterations"] == 9000)

    def random(self, n):
        self.write("b.txt", "".join(f"{math.sin(k * k)}\n" for k in range(n)))
        return "b.txt"

    @unittest.skipUnless(browser.PROGRAM, browser.MISSING)
    def test_in_a_browser(self):
        """What python/tests/browser_test.py asks of the pages of a result, in short: those of the command."""
        self.furrow("solve", "poisson2d:30", *CPU, "--report", "r.html")
        url = (self.folder / "r.html").as_uri()
        with browser.Browser(self.folder) as chromium:
            for width in (390, 1200):
                page = chromium.open(url, width=width)
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                heights = page.evaluate("[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().height)")
                self.assertEqual([h > 50 for h in heights], [True, False, True, True])  # one of the curves at a time
                self.assertEqual(page.evaluate("document.querySelector('output').textContent"), "Rest on the curve to see its numbers.")
                self.assertEqual((page.said, page.requests), ([], [url]))


if __name__ == "__main__":
    main()
