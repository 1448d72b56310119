# SPDX-License-Identifier: BSD-3-Clause
"""callback, monitor and residuals."""
from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ._arrays import contiguous
from ._checks import count_of
from ._homes import Home
from ._result import Result, Step


def copy_of(x: Any) -> Any:
    """Of an array of any library; one of JAX, which nobody writes to, is itself."""
    if hasattr(x, "clone"):
        return x.clone()  # PyTorch's
    return x.copy() if hasattr(x, "flags") else x


@contextlib.contextmanager
def with_partial(result: Result) -> Iterator[None]:
    """What is raised inside has the answer, as what is raised while a solve runs."""
    try:
        yield
    except BaseException as e:
        e.partial = result  # type: ignore[attr-defined]
        raise


class Weakly:
    """A function that the library keeps, and that ends with the Solver which keeps `of`: what is kept where Python cannot
    look would hold a Solver for good whose callback or operator knows it."""

    __slots__ = ("_of",)

    def __init__(self, of: Callable[..., Any]) -> None:
        self._of = weakref.ref(of)

    def __call__(self, *given: Any) -> Any:
        of = self._of()
        assert of is not None, "the Solver keeps it"
        return of(*given)


def weakly(of: Callable[..., Any] | None) -> Weakly | None:
    return None if of is None else Weakly(of)


class Watching:
    """callback, monitor and residuals of a call, as the library hears them."""

    def __init__(self, callback: Callable[[Any], object] | None, monitor: Any, dtype: Any) -> None:
        self.dtype = dtype  # of the solve; the library tells of x in f64
        self.callback, self.watch, self.watch_every, self.monitor = callback, None, 0, None
        self.last, self.told, self.bar = 0, None, monitor == "bar"
        self.home: Home | None = None  # of the solve that runs
        own_every = 0
        if self.bar:
            monitor = _draw
        elif isinstance(monitor, tuple):
            if len(monitor) != 2:
                raise TypeError(f"monitor is a tuple of {len(monitor)}: give (f, 10) for every ten iterations")
            monitor, own_every = monitor[0], count_of(monitor[1], "the number of monitor=(f, number)")
            if own_every < 1:
                raise TypeError("monitor=(f, None): give (f, 10) for every ten iterations")
        if monitor is not None and not callable(monitor):
            raise TypeError('monitor is a function of a step, such a function with a number, or "bar"')
        if callback is not None and not callable(callback):
            raise TypeError("callback is a function of the x so far")
        if monitor is not None and (callback is None or not own_every):
            self.watch_every = own_every
            self.watch = lambda iteration, residual, seconds, x: bool(
                monitor(Step(iteration, residual, seconds, None if x is None else lambda: self._own(x()))))
        if callback is not None:
            def heard(iteration: int, residual: float, seconds: float, x: Any) -> Any:
                self.last = iteration
                self.told = x = self._own(x)
                callback(x)
                return bool(own_every and iteration % own_every == 0 and monitor(Step(iteration, residual, seconds, x)))

            self.monitor = heard

    def _own(self, x: Any) -> Any:
        """The x of the library as an array of the caller's kind, in the type of the answer."""
        x = contiguous(x, self.dtype)
        return x if self.home is None else self.home.from_host(x)

    def finish(self, result: Result, x: Any) -> None:
        """The iteration that ended the solve is told of when it is known to be the last, with a copy of x: what is
        written to it is not written to the answer. Each method that was tried counts anew, so that the last number told
        may be of an earlier one: all but those that were interrupted ended with an iteration that was not told. What
        stopped short hands back the best x, which may be an earlier one."""
        others = sum(rung["iterations"] for rung in result.rungs) > result.iterations
        untold = result.iterations > self.last or (others and result.status != "interrupted")
        told, self.told = self.told, None
        if told is not None and not untold and not result.success and result.status != "interrupted":
            untold = not bool((told == x).all())
        if self.callback is not None and untold:
            with with_partial(result):
                self.callback(copy_of(x))
        if self.bar:
            print(file=sys.stderr)


def _draw(step: Any) -> None:
    print(f"\riteration {step.iteration:8,}  residual {step.residual:.3e}  {step.seconds:6.1f} s", end="",
          file=sys.stderr, flush=True)
