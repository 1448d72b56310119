# SPDX-License-Identifier: BSD-3-Clause
"""`furrow teach`: every page of docs/kernels as it is, and its example run as the page shows it."""
import pathlib
import re
import unittest

import docs_test
from kit import Case, furrow, main

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "kernels"
NAMES = re.findall(r"\((\w+)\.md\)", (PAGES / "README.md").read_text())


class Teach(Case):
    def test_the_list(self):
        listed = re.findall(r"(?m)^  (\w+) +(.*)", self.furrow("teach").stdout)
        self.assertEqual([name for name, _ in listed], NAMES)
        self.assertEqual(set(NAMES), {page.stem for page in PAGES.glob("*.md")} - {"README"})
        for name, about in listed:
            self.assertEqual((PAGES / f"{name}.md").read_text().splitlines()[0], f"# {name}: {about}")

    def test_a_page_is_printed_as_it_is(self):
        for name in NAMES:
            self.assertEqual(self.furrow("teach", name, "--page").stdout, (PAGES / f"{name}.md").read_text())

    def test_form_of_the_pages(self):
        for name in NAMES:
            text = (PAGES / f"{name}.md").read_text()
            self.assertEqual(re.findall(r"(?m)^## (.*)", text), ["The code", "What bounds it", "Run it", "Exercise"], name)
            self.assertIn("\n**Answer.** ", text, name)
            self.assertTrue(list(docs_test.excerpts(text)), f"{name}: no code as it stands in the source")
            self.assertIn("--device gpu", text.split("## Run it")[1], name)

    def test_each_example_runs_and_prints_what_the_page_shows(self):
        for name in NAMES:
            text = (PAGES / f"{name}.md").read_text()
            block = re.search(r"^```console\n.*?^```", text, re.M | re.S)
            said = docs_test.smoothed(self.furrow("teach", name).stdout)
            for _, command, shown, _ in docs_test.commands(text[: block.end()]):
                self.assertIn(f"$ {command}", said, name)
                after = said[said.index(f"$ {command}") + 1 :]
                shown = docs_test.smoothed("\n".join(shown))
                self.assertTrue(shown, f"{name}: $ {command} shows nothing")
                self.assertTrue(docs_test.matches([*shown, "..."], after) or docs_test.matches(shown, after), f"{name}: $ {command}")
            self.assertEqual(list(self.folder.iterdir()), [], "an example leaves files")

    def test_the_idea_is_that_of_the_page(self):
        for name in NAMES:
            idea = (PAGES / f"{name}.md").read_text().split("\n\n", 1)[1].split("\n## ")[0]
            said = self.furrow("teach", name).stdout.split("\n$ furrow ")[0].split("\n\n", 1)[1]
            self.assertEqual(said.split(), re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", idea).split(), name)

    def test_a_kernel_has_a_page_or_is_told_which(self):
        for kernel, page in re.findall(r"\[(\w+)\]\(kernels/(\w+)\.md\)", (PAGES.parent / "kernels.md").read_text()):
            done = furrow("teach", kernel, "--page")
            self.assertTrue(done.returncode == 0 or f"'furrow teach {page}'" in done.stderr, kernel)
        self.assertIn("there is no page 'naive': 'furrow teach half_warp' or 'furrow teach dense' tells of that kernel",
                      furrow("teach", "naive").stderr)

    def test_mistakes(self):
        for words, sentence in ((("vectr",), "there is no page 'vectr': did you mean 'vector'?"),
                                (("cuda",), "there is no page 'cuda': choose one of scalar, vector"),
                                (("--page",), "--page prints one page: name it")):
            done = furrow("teach", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(sentence, done.stderr)

    def test_where_no_folder_can_be_made(self):
        said = self.furrow("teach", "chebyshev", code=3, env={"TMPDIR": "/nowhere"}).stderr
        self.assertIn("/nowhere", said)
        self.furrow("teach", "scalar", env={"TMPDIR": "/nowhere"})  # needs none


if __name__ == "__main__":
    main()
