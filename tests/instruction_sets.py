#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sources that are compiled for AVX share no such code with the rest of the program.

usage: instruction_sets.py LIBRARY.a SOURCE...        SOURCE: the name of one that is compiled for AVX, without its folder

The linker keeps one copy of an inline function for the whole program, which must run on every processor. So a function
that other sources may bring too must not hold instructions of AVX.
"""
import re
import subprocess
import sys
import tempfile


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def shared_functions(member, own):
    """Symbols of which the linker keeps one copy, without those that bear the name of this source."""
    for line in output_of("nm", "--defined-only", member).splitlines():
        _, kind, name = line.split()
        if kind in "WVu" and own not in name:
            yield name


def avx_in(code):
    """The first instruction of AVX: all of them begin with v, as no other one does but a few of the system."""
    for line in code.splitlines():
        found = re.match(r"\s+[0-9a-f]+:\s+(v\w+\s.*)", line)
        if found and not re.match(r"ver[rw]\b|vm\w+\b(?!.*%[xyz]mm)", found[1]):
            return found[1]
    return None


def main():
    library, sources = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            member = f"{source}.o"
            output_of("ar", "x", library, member, cwd=folder)
            path = f"{folder}/{member}"
            own = source.removesuffix(".cpp")
            bodies = dict(re.findall(r"^[0-9a-f]+ <([^>]+)>:\n((?:.+\n)*)",
                                     output_of("objdump", "-d", "--no-show-raw-insn", path), re.MULTILINE))
            if not any(own in name and avx_in(body) for name, body in bodies.items()):
                sys.exit(f"{source}: no instruction of AVX is in it: is this test still looking at the right code?")
            for name in shared_functions(path, own):
                if instruction := avx_in(bodies.get(name, "")):
                    sys.exit(f"{source}: {name} is shared with other sources and has '{instruction}'")


if __name__ == "__main__":
    main()
