# SPDX-License-Identifier: BSD-3-Clause
"""The program is built as cmake/options.cmake says, and holds no path of the machine that built it.

    hardening.py PROGRAM FOLDER...
"""
import re
import subprocess
import sys


def main(program, *folders):
    elf = subprocess.run(["readelf", "-W", "-h", "-l", "-d", "--dyn-syms", program], capture_output=True, text=True, check=True,
                         env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
    missing = [what for what, pattern in (("an address of its own (PIE)", r"Type:\s+DYN"),
                                          ("tables that become read-only", r"GNU_RELRO"),
                                          ("all tables filled at the start", r"\(FLAGS(_1)?\)\s+.*NOW"),
                                          ("canaries on the stack", r"__stack_chk_fail"),
                                          ("checked calls of the C library", r"__mem(cpy|move|set)_chk")) if not re.search(pattern, elf)]
    with open(program, "rb") as file:
        text = file.read()
    shown = [folder for folder in folders if folder.encode() + b"/" in text]
    for what in missing:
        print(f"{program}: without {what}")
    for folder in shown:
        print(f"{program}: holds the path {folder}")
    return 1 if missing or shown else 0


sys.exit(main(*sys.argv[1:]))
