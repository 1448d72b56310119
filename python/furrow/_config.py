# SPDX-License-Identifier: BSD-3-Clause
"""Threads, devices, and what this build is."""
from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

from . import _core, _gpu
from ._checks import whole_of


def command() -> str:
    """The program `furrow` of this package, as a path."""
    return str(pathlib.Path(__file__).parent / "furrow-command")


_MOST = 4095  #: threads that the library can use


class threads(int):
    """Threads that furrow uses; of NumPy's it changes nothing.

    `threads()` asks, `threads(n)` sets, 0 for all that the process may use; as a ``with`` block it sets for a while.
    What it gives is a number.

    >>> import furrow
    >>> before = furrow.threads()
    >>> with furrow.threads(1):
    ...     furrow.threads() + 0
    1
    >>> furrow.threads() == before > 0
    True
    """

    _before: int

    def __new__(cls, n: int | None = None) -> threads:
        before = _core.threads()
        if n is not None:
            _core.set_threads(whole_of(n, "n", 0, _MOST))
        self = super().__new__(cls, _core.threads())
        self._before = before
        return self

    def __enter__(self) -> threads:
        return self

    def __exit__(self, *_: Any) -> None:
        _core.set_threads(self._before)

    def __reduce__(self) -> Any:
        return int, (int(self),)  # a copy is a number, and sets nothing


def devices() -> list[str]:
    """Names of the devices that can be asked for.

    >>> import furrow
    >>> "cpu" in furrow.devices()
    True
    """
    return ["cpu"] + [f"gpu:{ordinal}" for ordinal, *_ in _gpu.inspect()["gpus"]]


def doctor() -> str:
    """What `furrow doctor` prints: the machine, the build, and what would make it faster.

    >>> import furrow
    >>> "threads" in furrow.doctor()
    True
    """
    return subprocess.run([command(), "doctor"], capture_output=True, text=True, check=False).stdout


def show_config() -> dict[str, Any]:
    """Versions and names of this build, as a dictionary.

    >>> import furrow
    >>> "cg" in furrow.show_config()["solvers"]
    True
    """
    import numpy
    import scipy

    return {
        "furrow": _core.version,
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "gpu": _gpu.inspect()["gpu_built"],
        "solvers": [name for name, *_ in _core.solvers()],
        "preconditioners": [name for name, *_ in _core.preconditioners()],
        "formats": list(_core.formats()),
    }
