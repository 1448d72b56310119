# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that are no arrays of numbers, no names and no counts, said before anything is made of them."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._errors import InputError, UsageError, type_of
from ._gpu import is_torch
from ._tensors import as_numpy


def masked_elements(x: Any, name: str) -> InputError:
    count = int(np.sum(np.ma.getmaskarray(x)))
    return InputError(f"{name} has {count} masked element{'s: say what they are' if count > 1 else ': say what it is'}, as "
                      f"{name}.filled(0) does")


def numbers(x: Any, name: str) -> Any:
    """x as an array of NumPy. What has masked elements is refused: below the mask stands anything."""
    if sp.issparse(x):
        raise TypeError(f"{name} is {type_of(x)}: give a dense array, as {name}.toarray() makes it")
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise masked_elements(x, name)
    try:
        array = as_numpy(x, name) if is_torch(x) else np.asarray(x)
    except ValueError:
        if not isinstance(x, (list, tuple)):
            raise
        raise InputError(f"{name} holds lists that differ in length: give as many numbers in each") from None
    if array.ndim == 0 and array.dtype.kind not in "fiubc":
        raise TypeError(f"{name} is {type_of(x)}: give an array of numbers")
    return array


def check_names(**given: Any) -> None:
    """Names of methods, formats and kernels."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} is {type_of(value)}: give a name, as a str")


def number_of(value: Any, name: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} is {type_of(value)}: give a number")


def finite_of(value: Any, name: str) -> float:
    number = number_of(value, name)
    if not math.isfinite(number):
        raise UsageError(f"{name} = {number}: give a finite number")
    return number


#: From here on a number is infinite in float32: half a step above the largest one.
BEYOND_F32 = 2.0**128 - 2.0**103
#: Up to here it is 0 there: half of the smallest one.
_NOTHING_IN_F32 = 2.0**-150


def check_factor(factor: float, name: str, dtype: Any, wide: str) -> None:
    """A factor of a product in `dtype`, which would be infinite or 0 there and was not. `wide`: what is to be given in float64
    instead."""
    size = abs(factor)
    if dtype == np.float32 and (BEYOND_F32 <= size < math.inf or 0 < size <= _NOTHING_IN_F32):
        raise UsageError(f"{name} = {factor:g} is too {'large' if size > 1 else 'small'} for float32, in which this product is "
                         f"computed: give {wide} in float64")


def flag_of(value: Any, name: str) -> bool:
    """True or False: "N" and "no" would both be true."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} is {type_of(value)}: give True or False")


def tuned(tune: Any, format: str, kernel: str) -> bool:
    """Whether what the names leave open is measured."""
    if flag_of(tune, "tune") and "auto" not in (format, kernel):
        raise UsageError("tune helps to choose, and format and kernel leave nothing to choose: leave tune out")
    return bool(tune)


def whole_of(value: Any, name: str, least: int, most: int = 2**63 - 1) -> int:
    """A whole number that the library can take."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{name} is {type_of(value)}: give a whole number")
    if not least <= value <= most:
        raise UsageError(f"{name} = {value} must lie between {least} and {most}")
    return int(value)


def ends_of(domain: Any, name: str = "domain") -> tuple[float, float]:
    """An interval, as two floats."""
    try:
        if isinstance(domain, (str, bytes)):
            raise TypeError
        low, high = domain
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {domain!r}: give its two ends, as (0, 1)") from None
    return number_of(low, name), number_of(high, name)


def interval_of(domain: Any) -> tuple[float, float]:
    """An interval that functions can live on."""
    low, high = ends_of(domain)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(f"[{low:g}, {high:g}] is no interval: two finite ends are wanted, the lower one first")
    return low, high


def check_residuals(residuals: Any) -> None:
    """Said before a solve whose answer would be lost."""
    if residuals is not None and not isinstance(residuals, list):
        raise TypeError(f"residuals is {type_of(residuals)}: give a list, which is filled")


def seconds_of(value: Any, name: str) -> float:
    """A number of seconds, for the library; infinity for None."""
    seconds = math.inf if value is None else number_of(value, name)
    if not seconds >= 0:
        raise UsageError(f"{name} = {seconds}: give a number of seconds, or None")
    return seconds


def count_of(value: Any, name: str) -> int:
    """A whole number of at least 1, for the library; 0 for None."""
    if value is None:
        return 0
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is {type_of(value)}: give a whole number, or None")
    if not math.isfinite(value) or value != int(value):
        raise UsageError(f"{name} = {value} must be a whole number, or None")
    if value < 1:
        raise UsageError(f"{name} = {value} must be at least 1, or None")
    return min(int(value), 2**63 - 1)
