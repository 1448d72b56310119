# SPDX-License-Identifier: BSD-3-Clause
"""`python -m furrow` is the command `furrow`."""
from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    from furrow._config import command

    program = command()
    os.execv(program, ["furrow", *sys.argv[1:]])


if __name__ == "__main__":
    main()
