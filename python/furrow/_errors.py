# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong, as classes. Each message is a sentence: what, where, what to do."""
from __future__ import annotations

import builtins
from typing import Any

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
    """A name, an option or an argument that does not exist or does not fit.

    >>> import furrow
    >>> furrow.solve([[2.0]], [1.0], solver="sg")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    furrow...UsageError: ...
    """


class InputError(Error, ValueError):
    """A file or a matrix that cannot be accepted.

    >>> import furrow
    >>> try:
    ...     furrow.cg([[2.0, 1.0], [0.0, 2.0]], [1.0, 1.0])
    ... except furrow.InputError as e:
    ...     print("symmetric" in str(e))
    True
    """


class MemoryError(Error, builtins.MemoryError):
    """More memory than there is; also a `MemoryError` of Python's.

    >>> import furrow
    >>> try:
    ...     furrow.generate("poisson3d:1290")  # 2^31 rows, 250 GB
    ... except MemoryError as e:
    ...     print(isinstance(e, furrow.MemoryError))
    True
    """


class DeviceError(Error, RuntimeError):
    """A device that is missing or failed.

    >>> import furrow
    >>> try:
    ...     furrow.Matrix([[1.0]], device="gpu:99")
    ... except furrow.DeviceError as e:
    ...     print(isinstance(e, RuntimeError))
    True
    """


def type_of(value: Any) -> str:
    """As a sentence names it: "a str", "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


class InternalError(Error, RuntimeError):
    """A broken promise inside Furrow: a fault of the library, worth telling its authors of.

    >>> import furrow
    >>> issubclass(furrow.InternalError, RuntimeError)
    True
    """


class SolveWarning(UserWarning):
    """A solve ended with a negative `info`, as the matrix or the numbers do not suit the method; or x may be off by more
    than 1 % though its residual is small.

    >>> import furrow, warnings
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     furrow.cg([[-1.0]], [1.0]).info
    -1
    >>> heard[0].category.__name__
    'SolveWarning'
    """


_core.set_errors(UsageError, InputError, MemoryError, DeviceError, InternalError)
