# SPDX-License-Identifier: BSD-3-Clause
"""Sparse products and linear systems at the speed of memory.

SciPy's calls, and a verdict that can be trusted: "converged" is said only of a residual that was computed anew from
the answer.

>>> import numpy as np, furrow
>>> A = furrow.generate("poisson3d:20")
>>> b = A @ np.ones(A.shape[0])
>>> x, info = furrow.cg(A, b, rtol=1e-8, M="jacobi")
>>> info
0
"""
from __future__ import annotations

import warnings as _warnings
from typing import Any

from ._interpreter import refuse_sub_interpreters as _refuse_sub_interpreters

_refuse_sub_interpreters()
try:
    from . import _core as _core
except ImportError as e:
    raise ImportError(f"the compiled part of furrow cannot be loaded ({e}): install the package `furrow-solve`, and no "
                      "other package that is imported as furrow") from e

from . import chebyshev
from ._batch import solve_batch
from ._config import devices, doctor, show_config, threads
from ._dense import gemv
from ._errors import (
    DeviceError,
    Error,
    InputError,
    InternalError,
    MemoryError,
    SolveWarning,
    UsageError,
)
from ._inputs import generate, info, read, write
from ._matrix import Matrix
from ._methods import METHODS as _METHODS
from ._result import Result, Step
from ._solve import solve
from ._solver import Solver

__version__ = _core.version
if _core.environment_mistake():
    _warnings.warn(_core.environment_mistake(), SolveWarning, stacklevel=2)
#: Where what says nothing of a device, by an argument or by where its arrays lie, is computed: "cpu", "gpu", "gpu:1";
#: None: solves where they are expected to take least, everything else on the CPU.
default_device: str | None = None
globals().update({name: method for name, method in _METHODS.items() if name not in globals()})

__all__ = [
    *_METHODS, "DeviceError", "Error", "InputError", "InternalError", "Matrix", "MemoryError", "Result",
    "SolveWarning", "Solver", "Step", "UsageError", "chebyshev", "devices", "doctor", "gemv", "generate", "info",
    "read", "scipy_compat", "show_config", "solve", "solve_batch", "threads", "write",
]


def __dir__() -> list[str]:
    return [*__all__, "default_device", *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> Any:
    if name == "scipy_compat":
        import importlib

        return importlib.import_module(".scipy_compat", __name__)
    raise AttributeError(f"module 'furrow' has no attribute {name!r}")
