# SPDX-License-Identifier: BSD-3-Clause
"""Which device a call runs on: what its arrays say, what the caller says, what pays."""
from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._errors import DeviceError, SolveWarning, type_of

#: Entries from which on solving on a GPU pays for the copies where all arrays are in host memory. A whole call of cg on
#: 183600 entries takes 10 ms on an H100 and 17 ms on 16 cores, on 53600 the same (bench/results/python_gpu.json).
PAYS_FROM = 200_000


def ordinal_of(array: Any) -> int | None:
    """The GPU that an array or the arrays of a sparse matrix lie on; None: host memory, or no array."""
    if isinstance(array, (np.ndarray, list, tuple, int, float)):
        return None
    if is_torch(array):
        return int(array.get_device()) if array.is_cuda else None
    if is_sparse(array):
        array = array.data
    device = getattr(array, "__dlpack_device__", None)
    if device is not None:
        kind, ordinal = device()
        return int(ordinal) if kind in (2, 13) else None  # of CUDA: its own memory, and managed memory
    interface = None
    if hasattr(type(array), "__cuda_array_interface__"):
        interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return None
    address = interface.get("data") if isinstance(interface, dict) else None
    if not (isinstance(address, tuple) and len(address) == 2 and isinstance(address[0], int) and 0 <= address[0] < 2**64):
        raise TypeError(f"the __cuda_array_interface__ of a {type(array).__name__} has no \"data\": (address, read_only) as its "
                        "protocol asks for")
    return max(_core.ordinal_at(address[0]), 0)


def is_sparse(A: Any) -> bool:
    """A sparse matrix of CuPy, PyTorch or, in rows, of JAX."""
    if is_torch(A):
        return str(A.layout) != "torch.strided"
    # In this order: NumPy raises for the data of datetimes.
    return type(A).__module__.startswith(("cupyx.", "jax.experimental.sparse")) and hasattr(A, "data")


def is_cupy_sparse(A: Any) -> bool:
    """A sparse matrix of CuPy; not an operator of its."""
    return is_sparse(A) and type(A).__module__.startswith("cupyx.")


def is_array(A: Any) -> bool:
    """An array on a GPU, or a tensor of PyTorch wherever it lies."""
    return is_torch(A) or (ordinal_of(A) is not None and not is_sparse(A))


def is_torch(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] == "torch" and hasattr(array, "is_cuda")


def place(ordinal: int | None) -> str:
    """Where something lies, in words."""
    return "in host memory" if ordinal is None else f"on gpu:{ordinal}"


def name_of(ordinal: int | None) -> str:
    """A device as it is asked for."""
    return "cpu" if ordinal is None else f"gpu:{ordinal}"


def _opens() -> bool:
    """Whether the first GPU serves: another process may hold its memory, which its first use tells."""
    try:
        _core.copied_bytes(0)
    except MemoryError as e:
        _gpus[:] = [0]
        warnings.warn(f"gpu:0 is left out, and the CPU computes: {e}", SolveWarning, stacklevel=6)
        return False
    return True


class _Auto:
    """What is asked for by "auto", and by nothing at all."""


AUTO = _Auto()
_known: dict[str, int | None] = {"cpu": None}
_gpus: list[int] = []  # their number, once it was asked for
_forked = False  # from a process that has GPUs: CUDA does not survive that


def count() -> int:
    """GPUs that can be used. Asking the driver takes a while; a child of a fork has none."""
    if not _gpus:
        inspect()
    return _gpus[0]


def inspect() -> Any:
    """What the compiled part finds now."""
    found = _core.devices()
    _gpus[:] = [0 if _forked else len(found["gpus"])]
    return found


def _forget() -> None:
    global _forked
    if any(_gpus) or len(_known) > 1:  # the driver was asked
        _forked = True
        _gpus[:] = [0]
        for name in [*_known]:
            if name != "cpu":
                del _known[name]


os.register_at_fork(after_in_child=_forget)


def check_process(where: int | None) -> None:
    """What lives on a GPU came along to a child of a fork by its name alone."""
    if _forked and where is not None:
        raise DeviceError('a child of os.fork has no GPU: begin it by spawn, or say device="cpu"')


def parse(device: Any) -> int | None | _Auto:
    """A device by name: None is the CPU."""
    if device is None:
        device = sys.modules["furrow"].default_device
    if device is None:
        return AUTO
    if not isinstance(device, str):
        raise TypeError(f'device is {type_of(device)}: give None, "cpu", "gpu" or "gpu:1"')
    if device == "auto":
        return AUTO
    if device not in _known:
        if device.startswith("gpu"):
            check_process(0)
        ordinal = _core.ordinal_of(device)  # says what is wrong with the name, or why there is no such GPU
        _known[device] = None if ordinal < 0 else ordinal
    return _known[device]


def usable(name: str, ordinal: int) -> None:
    """The GPU that an array lies on must be one that this build and this process can use."""
    if f"gpu:{ordinal}" not in _known:
        try:
            parse(f"gpu:{ordinal}")
        except DeviceError as e:
            raise DeviceError(f"{name} lies on a GPU, but {e}") from None


def check_at(name: str, at: int | None, where: int | None, what: str) -> None:
    """An array of the caller beside what lives on a device already. Host memory serves everywhere."""
    check_process(where)
    if at is None or at == where:
        return
    usable(name, at)
    raise DeviceError(f"{name} lies on gpu:{at}, but {what} lives on the {name_of(where)}: make that by "
                      f'device="gpu:{at}", or give {name} in host memory')


def pick(device: Any, A: int | None, b: int | None, pays: Callable[[], bool], *, has_b: bool,
         names: tuple[str, str] = ("A", "b")) -> int | None:
    """The device for a matrix and, where `has_b`, a vector, whose arrays lie where `A` and `b` say."""
    for name, at in zip(names, (A, b)):
        if at is not None:
            usable(name, at)
    if has_b and A is not None and A != b:
        raise DeviceError(f"{names[0]} lies {place(A)} and {names[1]} {place(b)}: give both in one memory")
    name, at = (names[0], A) if A is not None else (names[1], b)
    if at is not None:
        if device is not None and parse(device) not in (AUTO, at):
            raise DeviceError(f'{name} lies on gpu:{at}, but device="{device}": leave device out, or give {name} there')
        return at
    asked = parse(device)
    if isinstance(asked, _Auto):
        return 0 if pays() and count() > 0 and _opens() else None
    return asked


def check_asked(device: Any, where: int | None) -> None:
    """What a call on a kept Matrix says of a device beside where that one lives."""
    check_process(where)
    if device is not None and parse(device) not in (AUTO, where):
        raise DeviceError(f'A is a Matrix on the {name_of(where)}, but device="{device}": leave device out, or make '
                          f'another one by Matrix(A, device="{device}")')


def core(where: int | None) -> int:
    """A device as the compiled part counts them."""
    return -1 if where is None else where
