#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of CUDA stay in src/backends/gpu: outside there are no more than there were.

usage: vendor_names.py FOLDER...        the folders src and include

Another vendor's runtime is to replace one folder. A name outside is a place that it would have to visit: use what the
folder offers, or add it there. Whoever takes names away lowers the number.
"""
import pathlib
import re
import sys

MOST = 42

NAME = re.compile(r"\bcuda[A-Z]\w*")
HOME = "backends/gpu/"


def main(folders):
    found = []
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in {".cpp", ".hpp", ".cu"} or HOME in path.as_posix():
                continue
            code = re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", path.read_text())
            found += [(path.as_posix(), name) for name in NAME.findall(code)]
    if len(found) <= MOST:
        return 0
    for path in sorted({path for path, _ in found}):
        print(f"{path}: {', '.join(name for at, name in found if at == path)}")
    print(f"{len(found)} names of CUDA outside src/{HOME}, where there were {MOST}: let that folder offer what they do")
    return 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
