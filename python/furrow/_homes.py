# SPDX-License-Identifier: BSD-3-Clause
"""Where vectors live: in host memory as NumPy's, or on a GPU as those of CuPy, PyTorch or JAX. A call's results are at
home where its first vector is."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _gpu
from ._arrays import check_out, contiguous, real_type
from ._checks import numbers
from ._errors import DeviceError, UsageError


def kind_of(array: Any) -> str:
    """The class of an array, as a person writes it."""
    return f"{type(array).__module__.partition('.')[0]}.{type(array).__name__}"


class Home:
    """Host memory, and what homes have in common. `name`: of the vector that a call begins with."""

    ordinal: int | None = None
    library = "numpy"

    def __init__(self, name: str) -> None:
        self.name = name

    def enter(self, x: Any, name: str) -> Any:
        """An array of the caller as an array of this home. Raises DeviceError for one that lies elsewhere."""
        at = _gpu.ordinal_of(x)
        if at is not None:
            raise DeviceError(f"{name} lies on gpu:{at} and {self.name} in host memory: give both in one memory")
        return numbers(x, name)

    def dtype(self, x: Any) -> Any:
        return x.dtype

    def type_name(self, x: Any) -> str:
        """The type of the elements, "bfloat16" among them; empty for those of another byte order."""
        return str(x.dtype.name) if x.dtype.isnative else ""

    def address(self, x: Any) -> int:
        return int(x.__array_interface__["data"][0])

    def strides(self, x: Any) -> Any:
        """In bytes."""
        return x.strides

    def item_size(self, x: Any) -> int:
        return int(x.itemsize)

    def vector(self, x: Any, n: int, name: str, dtype: Any = None) -> Any:
        """A contiguous vector of n elements from (n,) or (n, 1)."""
        x = self.enter(x, name)
        own = real_type(self.dtype(x))
        if tuple(x.shape) not in ((n,), (n, 1)):
            raise UsageError(f"{name} is of shape {tuple(x.shape)}, but the matrix asks for ({n},)")
        return self.contiguous(x, own if dtype is None else dtype).reshape(n)

    def check_out(self, out: Any, shape: Any, dtype: Any) -> None:
        """An output is written as it stands: one that does not fit would be converted, and the result be lost."""
        if _gpu.ordinal_of(out) is not None:
            raise DeviceError(f"out lies {_gpu.place(_gpu.ordinal_of(out))} and {self.name} in host memory: give both "
                              "in one memory")
        check_out(out, shape, dtype)

    def is_contiguous(self, x: Any) -> bool:
        """Whether a result can be written to x as it lies, in rows without gaps."""
        return isinstance(x, np.ndarray) and bool(x.flags.c_contiguous)

    def contiguous(self, x: Any, dtype: Any) -> Any:
        return contiguous(x, dtype)

    def empty(self, shape: Any, dtype: Any) -> Any:
        return np.empty(shape, dtype)

    def copied(self, x: Any) -> Any:
        """A copy in rows without gaps."""
        return x.copy()

    def fill(self, x: Any, value: Any) -> None:
        x[:] = value

    def norm(self, x: Any) -> float:
        return float(np.linalg.norm(x))

    def overlap(self, x: Any, y: Any) -> bool:
        return np.may_share_memory(x, y)

    def from_host(self, x: Any) -> Any:
        """A vector of the library, as the caller's."""
        return x

    def leave(self, x: Any) -> Any:
        """A result for the caller."""
        return x

    def core(self, x: Any) -> Any:
        """A contiguous array for the compiled part."""
        return x

    def lent(self, address: int, n: int, dtype: Any) -> Any:
        """A vector of the compiled part on a GPU as an array of this home, for a call of a function."""
        raise NotImplementedError

    def stream(self) -> int | None:
        """The stream that the arrays of this home are used on; None where there is none."""
        return None


class OnGpu(Home):
    """What the homes on a GPU have in common."""

    def __init__(self, name: str, ordinal: int) -> None:
        super().__init__(name)
        self.ordinal = ordinal

    def has(self, x: Any) -> bool:
        raise NotImplementedError

    def enter(self, x: Any, name: str) -> Any:
        at = _gpu.ordinal_of(x)
        if at != self.ordinal:
            raise DeviceError(f"{name} lies {_gpu.place(at)} and {self.name} on gpu:{self.ordinal}: give both in one "
                              "memory")
        if not self.has(x):
            raise TypeError(f"{name} is a {kind_of(x)} and {self.name} an array of {self.library}: give both as arrays of "
                            "one library")
        return x

    def check_out(self, out: Any, shape: Any, dtype: Any) -> None:
        self.enter(out, "out")
        if self.type_name(out) != dtype.name:
            raise TypeError(f"out holds {self.type_name(out)}, but the result is {dtype.name}: give an array of that "
                            "type")
        if tuple(out.shape) != shape:
            raise UsageError(f"out is of shape {tuple(out.shape)}, but the result is of shape {shape}")
        if not self.is_contiguous(out):
            raise UsageError("out must be contiguous: a result in a copy would be lost")

    def overlap(self, x: Any, y: Any) -> bool:
        (x_low, x_high), (y_low, y_high) = self._reach(x), self._reach(y)
        return x_low < y_high and y_low < x_high

    def _reach(self, x: Any) -> tuple[int, int]:
        """From the first to behind the last byte of an array, gaps included."""
        steps = [(size - 1) * step for size, step in zip(x.shape, self.strides(x))]
        first = self.address(x)
        return first + sum(s for s in steps if s < 0), first + sum(s for s in steps if s > 0) + self.item_size(x)

    def core(self, x: Any) -> Any:
        size = int(np.prod(x.shape, dtype=np.int64))
        return _core.GpuVector(self.address(x), size, self.dtype(x).char, x)
