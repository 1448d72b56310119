# SPDX-License-Identifier: BSD-3-Clause
"""Threads and forks."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import furrow


def test_threads_share_a_matrix():
    A = furrow.generate("poisson2d:60")
    P = furrow.Matrix(A)
    x = np.random.default_rng(1).standard_normal(3600)
    expected, wrong = (P @ x).tobytes(), []

    def work():
        for _ in range(1000):
            if (P @ x).tobytes() != expected:
                wrong.append(1)

    team = [threading.Thread(target=work) for _ in range(4)]
    for t in team:
        t.start()
    for t in team:
        t.join()
    assert not wrong


def test_new_values_while_others_multiply():
    A = furrow.generate("poisson2d:200")
    P, x = furrow.Matrix(A), np.ones(40000)
    allowed = {(k * (A @ x)).tobytes() for k in (1, 2)}
    stop, seen = threading.Event(), set()

    def work():
        while not stop.is_set():
            seen.add((P @ x).tobytes())

    t = threading.Thread(target=work)
    t.start()
    for k in (2, 1) * 5:
        P.update_values(k * A.data)
    stop.set()
    t.join()
    assert seen <= allowed


def test_the_lock_is_released_in_long_calls():
    A = furrow.generate("poisson2d:700")
    s = furrow.Solver(A, rtol=1e-12)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    t = threading.Thread(target=tick)
    t.start()
    began = time.monotonic()
    s.solve(np.ones(490000))
    took = time.monotonic() - began
    done.set()
    t.join()
    assert len(ticks) > took / 0.05


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_of_a_fork_goes_on():
    P = furrow.Matrix(furrow.generate("poisson2d:100"))
    x = np.random.default_rng(1).standard_normal(10000)
    expected, before, stop = (P @ x).tobytes(), int(furrow.threads()), threading.Event()

    def busy():
        while not stop.is_set():
            P @ x

    t = threading.Thread(target=busy)
    t.start()
    try:
        for _ in range(100):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                good = (P @ x).tobytes() == expected and int(furrow.threads()) == before
                os._exit(0 if good else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        t.join()


def test_threads_of_numpy_are_left_alone():
    with furrow.threads(1) as n:
        assert int(n) == 1
    with pytest.raises(furrow.UsageError):
        furrow.threads(-1)


def test_others_run_while_a_density_is_read():
    d = furrow.chebyshev.density(furrow.generate("poisson3d:10"), (0, 12), moments=512)
    points, ticks, done = np.linspace(0, 12, 200000), [0], threading.Event()

    def work():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    beside = threading.Thread(target=work)
    beside.start()
    begun = time.perf_counter()
    d(points)
    seconds = time.perf_counter() - begun
    done.set()
    beside.join()
    assert ticks[0] > 30 * seconds  # 1 in all where the lock is held
