# SPDX-License-Identifier: BSD-3-Clause
"""Names that come from outside: nothing in them reaches a terminal that it would obey, and JSON is valid UTF-8."""
import io
import json
import os
import subprocess
import tarfile
import xml.dom.minidom

from kit import ENVIRONMENT, FURROW, Case, main

MATRIX = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n"
LATIN = b"caf\xe9"                                     # no UTF-8
EVIL = "a\x1b[31mb\nConverged\x9b\u202ec".encode()     # valid UTF-8
GOOD = "Größe 行列".encode()


class Names(Case):
    def run_bytes(self, *words, code=0):
        done = subprocess.run([FURROW, *words], cwd=self.folder, env=ENVIRONMENT, capture_output=True)
        self.assertEqual(done.returncode, code, (words, done))
        return done.stdout, done.stderr

    def put(self, name, data=MATRIX):
        (self.folder / os.fsdecode(name)).write_bytes(data)

    def is_harmless(self, text, lines=None):
        for bad in "\x1b\x9b\u202e\x00":
            self.assertNotIn(bad, text.decode())  # valid UTF-8, too
        if lines is not None:
            self.assertEqual(text.count(b"\n"), lines, text)

    def commands(self, name):
        yield "info", name, "--picture", "out.svg"
        yield "solve", name
        yield "spmv", name, "--repeat", "1"
        yield "cheb", "density", name, "--moments", "4"

    def test_text(self):
        for stem in (LATIN, EVIL, GOOD):
            self.put(stem + b".mtx")
            self.put(b"plain.mtx")
            for odd, plain in zip(self.commands(stem + b".mtx"), self.commands(b"plain.mtx")):
                text = self.run_bytes(*odd)[0]
                self.is_harmless(text, self.run_bytes(*plain)[0].count(b"\n"))
                self.assertIn({LATIN: b"caf?", EVIL: b"a?[31mb?Converged??c", GOOD: GOOD}[stem], text)
        self.put(EVIL + b".txt", b"3\n2\n3\n")
        text, _ = self.run_bytes("solve", "plain.mtx", "-b", EVIL + b".txt", "-o", EVIL + b".x", "--history", EVIL + b".csv")
        self.is_harmless(text)
        for words in (("convert", "plain.mtx", EVIL + b".furrow"), ("generate", "poisson1d:3", "-o", EVIL + b".mtx")):
            self.is_harmless(self.run_bytes(*words)[0], 1)

    def test_messages(self):
        self.put(EVIL + b".mtx", MATRIX.replace(b"3 2 -1", b"3 2 x"))
        for words, code in (((b"info", EVIL + b".mtx"), 3), ((b"info", b"no" + EVIL), 3), ((b"info", LATIN), 3), ((EVIL,), 2),
                            ((b"solve", b"poisson1d:3", b"--format", EVIL), 2), ((b"solve", b"poisson1d:3", b"-o", EVIL + b"/x"), 3),
                            ((b"solve", b"poisson1d:3", b"--" + EVIL), 2), ((b"cheb", b"fit", EVIL), 2), ((b"info", b"-x" + LATIN), 2)):
            out, said = self.run_bytes(*words, code=code)
            self.assertEqual(out, b"")
            said = b"".join(line for line in said.splitlines(True) if not line.startswith(b"furrow: memory: "))
            self.is_harmless(said, 1)

    def test_json(self):
        for stem, shown in ((LATIN, "caf\ufffd"), (EVIL, EVIL.decode()), (GOOD, GOOD.decode())):
            self.put(stem + b".mtx")
            self.put(stem + b".txt", b"3\n2\n3\n")
            for words in self.commands(stem + b".mtx"):
                result = json.loads(self.run_bytes(*words, "--json")[0].decode())
                self.assertEqual(result.get("matrix", result.get("name")), shown)
            result = json.loads(self.run_bytes("solve", stem + b".mtx", "-b", stem + b".txt", "--json")[0].decode())
            self.assertEqual(result["rhs"], shown + ".txt")
            self.run_bytes("convert", stem + b".mtx", "c.furrow")
            self.assertEqual(json.loads(self.run_bytes("info", "c.furrow", "--json")[0].decode())["name"], shown)

    def test_archives_and_caches(self):
        for stem in (LATIN, EVIL):
            with tarfile.open(self.folder / "m.tar", "w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
                entry = tarfile.TarInfo("m/" + os.fsdecode(stem) + ".mtx")
                entry.size = len(MATRIX)
                tar.addfile(entry, io.BytesIO(MATRIX))
            self.run_bytes("convert", "m.tar", "m.furrow")
            for file in ("m.tar", "m.furrow"):
                for words in self.commands(file):
                    self.is_harmless(self.run_bytes(*words)[0])
                    json.loads(self.run_bytes(*words, "--json")[0].decode())

    def test_pictures(self):
        for stem in (LATIN, EVIL):
            self.put(stem + b".mtx")
            self.run_bytes("cheb", "density", stem + b".mtx", "--moments", "4", "-o", "d")
            svg = (self.folder / "d" / "density.svg").read_bytes()
            self.is_harmless(svg)
            xml.dom.minidom.parseString(svg)
            json.loads((self.folder / "d" / "density.json").read_bytes().decode())


if __name__ == "__main__":
    main()
