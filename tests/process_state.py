#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the library keeps beyond calls is listed in src/core/process_state.hpp, file by file, and nothing else is kept.

usage: process_state.py SOURCES        the folder src
"""
import pathlib
import re
import sys

# Variables of a thread, variables of the process that can be written, and what `static` keeps on the heap. Functions,
# constants and members are none of these.
KEPT = re.compile(r"\bthread_local\b|^\s*static (?:const )?auto& \w+ = \*new|^\s*static (?:std::atomic|std::mutex|std::map)<?"
                  r"|^std::(?:atomic|mutex|map)\b[^()]*;", re.MULTILINE)


def main(src):
    named = set(re.findall(r"^///   (\S+/\S+)", (src / "core/process_state.hpp").read_text(), re.MULTILINE))
    found = set()
    for path in sorted(src.rglob("*")):
        name = path.relative_to(src).as_posix()
        if path.suffix in {".cpp", ".hpp", ".cu"} and not path.stem.endswith("_test") and KEPT.search(path.read_text()):
            found.add(name)
    for name in sorted(found - named):
        print(f"src/{name} keeps something beyond calls: list it in src/core/process_state.hpp, or keep it in an object")
    for name in sorted(named - found):
        print(f"src/core/process_state.hpp names {name}, which keeps nothing")
    return 1 if found != named else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
