#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sources that a linter has to see again after COMMIT, one a line.

  changed_sources.py COMMIT [FOLDER...]     FOLDERs: where sources lie; src and apps without one

These are the sources that changed, and for every header that changed one source that includes it, directly or by way of
others. All sources where .clang-tidy changed or COMMIT is not known here. Standard library only.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#include\s+(?:"([^"]+)"|<(furrow/[^>]+)>)', re.MULTILINE)


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)


def sources(folders):
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", "--", *(f"{f}/*.cpp" for f in folders))
    return [name for name in listed.stdout.split() if not name.endswith(("_test.cpp", "/play.cpp"))]


def includes(name, known):
    """Names of the project's own headers that a file includes."""
    if name not in known:
        path = ROOT / name
        found = set()
        for own, public in INCLUDE.findall(path.read_text()):
            places = [ROOT / "include" / public] if public else [path.parent / own, ROOT / "src" / own, ROOT / "apps/furrow" / own]
            place = next((p for p in places if p.is_file()), None)
            if place:
                found.add(str(place.resolve().relative_to(ROOT)))
        known[name] = found
    return known[name]


def reached_from(name, known):
    """All headers that come with a source."""
    seen, left = set(), [name]
    while left:
        new = includes(left.pop(), known) - seen
        seen |= new
        left += new
    return seen


def chosen(every, changed):
    """The changed ones of `every` source, then for each changed header that none of these reaches the first that does."""
    known = {}
    take = [name for name in every if name in changed]
    left = {name for name in changed if name.endswith(".hpp") and (ROOT / name).is_file()}
    for name in take:
        left -= reached_from(name, known)
    for name in every:
        new = reached_from(name, known) & left if left else set()
        if new:
            take.append(name)
            left -= new
    return take


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    commit, every = sys.argv[1], sources(sys.argv[2:] or ["src", "apps"])
    since = git("diff", "--name-only", commit)
    if since.returncode != 0:
        print(f"changed_sources.py: {commit} is not known here: all sources are", file=sys.stderr)
    changed = set(since.stdout.split()) | set(git("ls-files", "--others", "--exclude-standard").stdout.split())
    everything = since.returncode != 0 or ".clang-tidy" in changed
    print("\n".join(every if everything else chosen(every, changed)))


if __name__ == "__main__":
    main()
