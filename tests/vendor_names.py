#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of the CUDA runtime stay in src/backends/gpu.

usage: vendor_names.py FOLDER...        the folders src and include

Another vendor's runtime is to replace one folder. A name outside is a place that it would have to visit: use what the
folder offers, or add it there.
"""
import pathlib
import re
import sys

NAME = re.compile(r"\bcuda[A-Z]\w*")
HOME = "backends/gpu/"


def main(folders):
    found = 0
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in {".cpp", ".hpp", ".cu"} or HOME in path.as_posix():
                continue
            code = re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", path.read_text())
            for name in NAME.findall(code):
                print(f"{path}: {name} is a name of CUDA outside src/{HOME}: let that folder offer what it does")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
