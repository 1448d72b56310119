# SPDX-License-Identifier: BSD-3-Clause
"""Homes on a GPU: what differs between CuPy, PyTorch and JAX."""
from __future__ import annotations

import importlib
from typing import Any

from . import _gpu
from ._errors import DeviceError, UsageError
from ._homes import Home, OnGpu, kind_of
from ._tensors import check_dense, dense, numpy_type


class Cupy(OnGpu):
    """Arrays of CuPy, on its current stream."""

    library = "cupy"

    def __init__(self, name: str, ordinal: int) -> None:
        super().__init__(name, ordinal)
        self._np = importlib.import_module("cupy")
        self._device = self._np.cuda.Device(ordinal)

    def has(self, x: Any) -> bool:
        return isinstance(x, self._np.ndarray)

    def address(self, x: Any) -> int:
        return int(x.data.ptr)

    def is_contiguous(self, x: Any) -> bool:
        return self.has(x) and bool(x.flags.c_contiguous)

    def contiguous(self, x: Any, dtype: Any) -> Any:
        with self._device:
            return self._np.ascontiguousarray(x, dtype=dtype)

    def empty(self, shape: Any, dtype: Any) -> Any:
        with self._device:
            return self._np.empty(shape, dtype)

    def copied(self, x: Any) -> Any:
        with self._device:
            return x.copy()

    def fill(self, x: Any, value: Any) -> None:
        with self._device:
            x[...] = value

    def norm(self, x: Any) -> float:
        with self._device:
            return float(self._np.linalg.norm(x))

    def lent(self, address: int, n: int, dtype: Any) -> Any:
        with self._device:
            memory = self._np.cuda.UnownedMemory(address, n * dtype.itemsize, self, self.ordinal)
            return self._np.ndarray((n,), dtype, self._np.cuda.MemoryPointer(memory, 0))

    def from_host(self, x: Any) -> Any:
        with self._device:
            return self._np.asarray(x)

    def stream(self) -> int | None:
        return int(self._np.cuda.get_current_stream(self.ordinal).ptr)


class _Lent:
    """Memory as PyTorch takes it over, without a copy."""

    def __init__(self, address: int, n: int, dtype: Any) -> None:
        self.__cuda_array_interface__ = {"shape": (n,), "typestr": dtype.str, "data": (address, False), "version": 2}


class Torch(OnGpu):
    """Tensors of PyTorch, on its current stream."""

    library = "torch"

    def __init__(self, name: str, ordinal: int) -> None:
        super().__init__(name, ordinal)
        self._torch = importlib.import_module("torch")

    def has(self, x: Any) -> bool:
        return isinstance(x, self._torch.Tensor)

    def enter(self, x: Any, name: str) -> Any:
        return dense(super().enter(x, name), name)

    def check_out(self, out: Any, shape: Any, dtype: Any) -> None:
        super().check_out(out, shape, dtype)
        if out.is_neg():
            raise UsageError("out is a negated view, whose memory holds the opposite of what it shows: give a tensor of its own")

    def dtype(self, x: Any) -> Any:
        return numpy_type(x)

    def type_name(self, x: Any) -> str:
        return str(x.dtype).removeprefix("torch.")

    def address(self, x: Any) -> int:
        return int(x.data_ptr())

    def strides(self, x: Any) -> Any:
        return tuple(step * x.element_size() for step in x.stride())

    def item_size(self, x: Any) -> int:
        return int(x.element_size())

    def is_contiguous(self, x: Any) -> bool:
        return self.has(x) and bool(x.is_contiguous())

    def contiguous(self, x: Any, dtype: Any) -> Any:
        return x.detach().to(self._type(dtype)).contiguous()

    def empty(self, shape: Any, dtype: Any) -> Any:
        return self._torch.empty(shape, dtype=self._type(dtype), device=f"cuda:{self.ordinal}")

    def copied(self, x: Any) -> Any:
        return x.clone(memory_format=self._torch.contiguous_format)

    def fill(self, x: Any, value: Any) -> None:
        if self.has(value):
            x.detach().copy_(value)
        else:
            x.detach().fill_(value)

    def norm(self, x: Any) -> float:
        return float(self._torch.linalg.vector_norm(x.detach().double()))

    def lent(self, address: int, n: int, dtype: Any) -> Any:
        return self._torch.as_tensor(_Lent(address, n, dtype), device=f"cuda:{self.ordinal}")

    def from_host(self, x: Any) -> Any:
        return self._torch.from_numpy(x).to(f"cuda:{self.ordinal}")

    def stream(self) -> int | None:
        return int(self._torch.cuda.current_stream(self.ordinal).cuda_stream)

    def _type(self, dtype: Any) -> Any:
        return getattr(self._torch, dtype.name)


class Jax(Cupy):
    """Arrays of JAX: they come and go by DLPack, which hands over between its streams and CuPy's, without a copy."""

    library = "jax"

    def __init__(self, name: str, ordinal: int) -> None:
        try:
            super().__init__(name, ordinal)
        except ImportError:
            raise DeviceError(f"{name} is an array of JAX on a GPU, which comes here through CuPy: install cupy-cuda13x, "
                              "or give an array of PyTorch") from None
        self._jax = importlib.import_module("jax")
        importlib.import_module("jax.dlpack")

    def has(self, x: Any) -> bool:
        return isinstance(x, self._jax.Array)

    def enter(self, x: Any, name: str) -> Any:
        with self._device:
            return self._np.from_dlpack(super().enter(x, name))

    def is_contiguous(self, x: Any) -> bool:
        return False

    def check_out(self, out: Any, shape: Any, dtype: Any) -> None:
        raise TypeError("out is an array of JAX, which nobody writes to: leave it out")

    def from_host(self, x: Any) -> Any:
        return self.leave(super().from_host(x))

    def leave(self, x: Any) -> Any:
        with self._device:
            return self._jax.dlpack.from_dlpack(self._np.ascontiguousarray(x))


#: Homes by the name of the library that an array's class is from.
LIBRARIES = {"cupy": Cupy, "torch": Torch, "jax": Jax, "jaxlib": Jax}


def home_of(x: Any, name: str) -> Home:
    """Where x lives. Raises DeviceError for a GPU that cannot be used, TypeError for an array that nothing is known
    of, and for a tensor that is not dense."""
    if _gpu.is_torch(x):
        check_dense(x, name)
    ordinal = _gpu.ordinal_of(x)
    if ordinal is None:
        return Home(name)
    _gpu.usable(name, ordinal)
    library = type(x).__module__.partition(".")[0]
    if library not in LIBRARIES:
        raise TypeError(f"{name} is a {kind_of(x)}: on a GPU give an array of CuPy, PyTorch or JAX, such as "
                        "cupy.asarray makes of it without a copy")
    return LIBRARIES[library](name, ordinal)
