#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the sources are built up stays as docs/design.md says: rooms, arrows between them, functions that one can read.

usage: structure.py FOLDER        the folder of the project

- no folder of src has more than a fifth of the lines there, tests not counted
- folders include those above them in ORDER; of the other way round there are the pairs in UPWARD and no more
- no function has a cyclomatic number above 30 (by lizard, from the Python package index; left out with exit code 77
  where it is not installed)
"""
import collections
import pathlib
import re
import sys

# backends and core lean on each other: a processor's facts are core's, its threads are backends'.
ORDER = ("backends core generate io matrix gemv picture tune report formats solvers preconditioners chebyshev solve "
         "distributed dispatch").split()
MOST_UPWARD = 6
MOST_BRANCHES = 30


def is_source(path):
    return path.suffix in {".cpp", ".hpp", ".cu"} and not re.search(r"_test(_kit)?\.\w+$", path.name)


def room_of(included, path, src):
    """The folder of src in which an included file lies."""
    for found in (path.parent / included, src / included):
        if found.exists():
            return found.resolve().relative_to(src).parts[0]
    return None


def look_at(src):
    lines, arrows = collections.Counter(), collections.Counter()
    for path in sorted(filter(is_source, src.rglob("*"))):
        text = path.read_text()
        room = path.relative_to(src).parts[0]
        lines[room] += text.count("\n")
        for included in re.findall(r'#include "([^"]+)"', text):
            to = room_of(included, path, src)
            if to and to != room:
                arrows[room, to] += 1
    return lines, arrows


def faults_of_rooms(src):
    lines, arrows = look_at(src)
    unknown = sorted(set(lines) - set(ORDER))
    if unknown:
        yield f"src has folders that tests/structure.py does not know: {', '.join(unknown)}: give each its place in ORDER"
        return
    for room, count in lines.items():
        if count > sum(lines.values()) / 5:
            yield f"src/{room} has {count} of {sum(lines.values())} lines, more than a fifth: divide it"
    upward = [(a, b) for a, b in arrows if ORDER.index(a) < ORDER.index(b)]
    if len(upward) > MOST_UPWARD:
        yield f"{len(upward)} folders include one that stands above them, {MOST_UPWARD} may: " + ", ".join(
            f"{a} -> {b} ({arrows[a, b]})" for a, b in sorted(upward))


def faults_of_functions(project):
    import lizard
    files = [str(path) for part in ("src", "include", "apps") for path in sorted((project / part).rglob("*"))
             if path.suffix in {".cpp", ".hpp", ".cu"} and "_test" not in path.name]
    for file in lizard.analyze_files(files, exts=[]):
        for function in file.function_list:
            if function.cyclomatic_complexity > MOST_BRANCHES:
                yield (f"{file.filename}:{function.start_line}: {function.name} has the cyclomatic number "
                       f"{function.cyclomatic_complexity}, above {MOST_BRANCHES}: divide it")


def main(project):
    faults = list(faults_of_rooms((project / "src").resolve()))
    try:
        faults += faults_of_functions(project)
    except ImportError:
        if not faults:
            print("lizard is not installed: functions were not looked at")
            return 77
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
