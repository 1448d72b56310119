# SPDX-License-Identifier: BSD-3-Clause
"""The interpreter ends while daemon threads compute: the process ends as it would without them."""
import subprocess
import sys

import pytest

SCRIPT = """
import threading, time, numpy as np, furrow
A = furrow.generate("poisson3d:20")
b = np.ones(8000)
P = furrow.Matrix(A)
begun = threading.Semaphore(0)
def work():
    begun.release()
    while True:
        {}
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(3):
    begun.acquire()
time.sleep(0.2)
print("the end")
"""


@pytest.mark.parametrize("work", [
    "P @ b",
    "furrow.Matrix(furrow.generate('poisson3d:40'))",
    "furrow.solve(A, b, rtol=1e-12, monitor=lambda step: None)",
    "furrow.cg(A, b, M=lambda r: r / 6, callback=lambda x: None)",
    "furrow.cg(A, b, M=lambda r: sum([r / 12, r / 12], np.zeros(8000)))",
    "furrow.solve(A, b, ranks=2, monitor=(lambda step: None, 1))",
    "furrow.solve_batch([(A, b)] * 3)",
    "furrow.chebyshev.fit(lambda x: abs(x - 0.3), (0, 1), 1e-4)",
    "furrow.chebyshev.density(A, (0, 12), 64)(np.linspace(0, 12, 10000))",
])
def test_daemon_threads_do_not_end_the_process_by_a_signal(work):
    ran = subprocess.run([sys.executable, "-c", SCRIPT.format(work)], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "the end\n", "")
