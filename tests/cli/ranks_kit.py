# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of ranks share: solves that ranks make, and processes of mpirun."""
import json
import os
import pathlib
import shutil
import subprocess

from kit import ENVIRONMENT, FURROW, Case

MODULE = pathlib.Path(FURROW).resolve().parent / "libfurrow_mpi.so"
NUMBERS = (1, 2, 3, 4, 7)
# Solver, a matrix that it serves, and iterations by which ranks may differ: sums of other pieces round elsewhere.
SYMMETRIC = ("cg", "cg_single_reduction", "fcg", "cr", "minres")
GENERAL = ("bicgstab", "bicgstab2", "tfqmr", "gmres", "fgmres", "idr")
SOLVES = [(solver, "poisson2d:20") for solver in SYMMETRIC] + [(solver, "convection2d:20:10") for solver in GENERAL]


def sentences(text):
    return [line for line in text.splitlines() if line.startswith("furrow: ") and not line.startswith("furrow: memory:")]


class ByMpirun(Case):
    more = {}  # of the environment

    def setUp(self):
        super().setUp()
        if not shutil.which("mpirun") or not MODULE.exists():
            self.skipTest("there is no mpirun, or the module for MPI was not built")

    def start(self, n, *words, before=(), program=FURROW):
        command = ["mpirun", "--oversubscribe", "--quiet", "-n", str(n), *before, program, *words]
        environment = {**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "NO_COLOR": "1", "FURROW_MPI": str(MODULE), **self.more}  # mpirun gives its ranks a terminal
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_ranks(self, n, *words, code=0, before=()):
        process = self.start(n, *words, before=before)
        out, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, f"mpirun -n {n} furrow {' '.join(words)}\n{out}{said}")
        return out, said


class ByMpirunWithGpus(ByMpirun):
    """Ranks of MPI with a GPU each, two of them where there are two, and otherwise both on one."""
    more = {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7")}

    def setUp(self):
        super().setUp()
        known = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
        self.gpus = known.count("GPU ") if known else 0
        if not self.gpus:
            self.skipTest("there is no GPU")

    def names_of_two(self):
        return ["gpu:0", "gpu:1" if self.gpus > 1 else "gpu:0"]

    def nccl(self):
        """Its name and version, as a report tells."""
        if self.gpus < 2:
            self.skipTest("one GPU, this needs two")
        process = self.start(2, "solve", "poisson2d:20", "--device", "gpu", "--through", "nccl", "--json")
        out, said = process.communicate(timeout=120)
        if process.returncode == 4 and "libnccl.so.2, " in said:
            self.skipTest(said)
        self.assertEqual(process.returncode, 0, said)
        return json.loads(out)["ranks_talk_through"]
