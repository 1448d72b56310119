# SPDX-License-Identifier: BSD-3-Clause
"""Names of files, as the system knows them."""
from __future__ import annotations

import os

from ._errors import UsageError, type_of


#: What a name promises and nothing is written as.
NEVER_WRITTEN = (".npz", ".npy.gz", ".txt.gz", ".csv.gz", ".mat", ".m", ".h5", ".hdf5", ".rb", ".hb", ".rsa", ".rua",
                 ".json", ".pkl", ".pickle", ".parquet", ".xlsx", ".tsv", ".tar", ".tar.gz", ".tgz", ".zip", ".bz2", ".xz",
                 ".zst", ".7z", ".svg", ".png", ".pdf", ".jpg", ".eps", ".gif")


def bytes_of(file: str | os.PathLike[str], argument: str = "file") -> bytes:
    """A name for the library, which may hold bytes that are no UTF-8, as those of `os.listdir` do; it would end at a NUL,
    and then be that of another file."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument} is {type_of(file)}: give the name of a file, as a str, bytes or a path")
    try:
        name = os.fsencode(file)
    except UnicodeEncodeError:
        raise UsageError(f"{os.fspath(file)!r} is no name of a file: it holds half a character") from None
    if not name:
        raise UsageError("the name of a file is empty: give one")
    if b"\0" in name:
        raise UsageError(f"{os.fspath(file)!r} is no name of a file: it holds a NUL character")
    return name
