# SPDX-License-Identifier: BSD-3-Clause
"""furrow spmv --sweep: a classic kernel with all lanes and blocks that it takes, here played, which needs no GPU."""
import json
import re

from kit import Case, main

BLOCKS = [32, 64, 128, 256, 512, 1024]


def bytes_of_lines(result):
    return 128 * sum(a["lines"] for k in result["kernels"] for a in k["arrays"] if not a["shared"])


def table_in(text):
    """{(block, column): (number, whether it has the star)} and the heads of the columns."""
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines) if line.split()[:1] == ["block"])
    heads = re.findall(r"\d+ lanes|kB|GB/s", lines[at])
    cells = {}
    for line in lines[at + 1:]:
        words = line.split()
        if not words:
            break
        for head, cell in zip(heads, words[1:], strict=True):
            cells[int(words[0]), head] = (float(cell.removeprefix("*")), cell.startswith("*"))
    return heads, cells


class Sweep(Case):
    def both(self, *words):
        """The table of a sweep, and its JSON."""
        words = ("spmv", *words, "--device", "play", "--sweep")
        text = self.furrow(*words).stdout
        return (*table_in(text), text, json.loads(self.furrow(*words, "--json").stdout)["results"])

    def test_every_number_of_lanes_and_threads_has_its_place(self):
        for words, lanes, blocks in ((("random:200:12",), [2, 4, 8, 16, 32], BLOCKS),
                                     (("random:200:12", "--play", "wave=64", "--precision", "f32"), [2, 4, 8, 16, 32, 64], BLOCKS[1:])):
            heads, cells, text, results = self.both(*words)
            self.assertEqual(heads, [f"{n} lanes" for n in lanes])
            self.assertEqual([(r["block"], r["lanes"]) for r in results], [(b, n) for b in blocks for n in lanes])
            self.assertEqual(set(cells), {(b, h) for b in blocks for h in heads})
            for r in results:
                self.assertEqual(r["kernel"], f"vector:lanes={r['lanes']},block={r['block']}")
                self.assertLessEqual(r["max_row_error"], 1)
                self.assertEqual({k["threads"] for k in r["kernels"]}, {r["block"]})
                shown, _ = cells[r["block"], f"{r['lanes']} lanes"]
                self.assertAlmostEqual(shown, 1e-3 * bytes_of_lines(r), delta=0.051)
            best = min(results, key=bytes_of_lines)
            (star,) = [place for place, (_, star) in cells.items() if star]
            self.assertEqual(star, (best["block"], f"{best['lanes']} lanes"))
            self.assertIn(f"* --kernel {best['kernel']}: ", text)
            self.assertGreater(len({bytes_of_lines(r) for r in results}), len(lanes) - 2, "lanes make a difference")

    def test_a_choice_of_the_sweep_is_that_choice_alone(self):
        *_, results = self.both("poisson2d:12")
        alone = json.loads(self.furrow("spmv", "poisson2d:12", "--device", "play", "--kernel", "vector:lanes=8,block=128", "--json").stdout)
        (same,) = [r for r in results if (r["lanes"], r["block"]) == (8, 128)]
        self.assertEqual(same["kernels"], alone["results"][0]["kernels"])

    def test_kernels_whose_lanes_are_not_free_have_one_column(self):
        for words in (("--kernel", "scalar"), ("--kernel", "half_warp"), ("--kernel", "warp_per_row"), ("--kernel", "naive"),
                      ("--format", "ell"), ("--format", "dia"), ("--format", "hyb:bell_garland"), ("--format", "dense", "--kernel", "tiled")):
            heads, cells, text, results = self.both("poisson2d:8", *words)
            self.assertEqual(heads, ["kB"], words)
            self.assertEqual([b for b, _ in cells], BLOCKS, words)
            self.assertEqual([r["block"] for r in results], BLOCKS, words)
            self.assertNotIn("lanes", results[0])
            self.assertEqual(sum(star for _, star in cells.values()), 1, words)

    def test_y_is_that_of_the_first(self):
        self.furrow("spmv", "poisson2d:12", "--device", "play", "--sweep", "-o", "swept.txt")
        self.furrow("spmv", "poisson2d:12", "--device", "play", "--kernel", "vector:lanes=2,block=32", "-o", "alone.txt")
        self.assertEqual((self.folder / "swept.txt").read_text(), (self.folder / "alone.txt").read_text())


if __name__ == "__main__":
    main()
