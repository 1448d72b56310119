# SPDX-License-Identifier: BSD-3-Clause
"""Names of files, as the system knows them."""
from __future__ import annotations

import os

from ._errors import UsageError


def bytes_of(file: str | os.PathLike[str]) -> bytes:
    """A name for the library, which may hold bytes that are no UTF-8, as those of `os.listdir` do; it would end at a NUL,
    and then be that of another file."""
    try:
        name = os.fsencode(file)
    except UnicodeEncodeError:
        raise UsageError(f"{os.fspath(file)!r} is no name of a file: it holds half a character") from None
    if not name:
        raise UsageError("the name of a file is empty: give one")
    if b"\0" in name:
        raise UsageError(f"{os.fspath(file)!r} is no name of a file: it holds a NUL character")
    return name
