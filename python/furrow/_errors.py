# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong, as classes. Each message is a sentence: what, where, what to do."""
from __future__ import annotations

import builtins

from . import _core


class Error(Exception):
    """Everything that furrow raises, except for arguments of a wrong type (`TypeError`).

    >>> import furrow
    >>> try:
    ...     furrow.generate("poisson3d:0")
    ... except furrow.Error as e:
    ...     print(type(e).__name__)
    UsageError
    """


class UsageError(Error, ValueError):
    """A name, an option or an argument that does not exist or does not fit."""


class InputError(Error, ValueError):
    """A file or a matrix that cannot be accepted."""


class MemoryError(Error, builtins.MemoryError):
    """More memory than there is."""


class DeviceError(Error, RuntimeError):
    """A device that is missing or failed."""


class InternalError(Error, RuntimeError):
    """A broken promise inside Furrow."""


class SolveWarning(UserWarning):
    """A solve ended with a negative `info`: the matrix or the numbers do not suit the method."""


_core.set_errors(UsageError, InputError, MemoryError, DeviceError, InternalError)
