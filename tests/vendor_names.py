#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of a vendor stay where the list below has them.

usage: vendor_names.py FOLDER...        folders of sources: src, include, apps

Another vendor's runtime is to replace one header. Three things are looked for, comments left out:

- names of the runtime, the driver and the libraries, in code and in strings, which is how a late library is asked for them
- headers of the toolkit that are included
- instructions that are written down (asm): a device's, and two of processors

Each has the files that may; one that no longer needs to is a fault, too, so that the lists only say what is so.
"""
import pathlib
import re
import sys

LIBRARIES = "cublas cublasLt cusparse cusolver curand cufft cudss nccl nvml nvtx nvrtc nvshmem nvJitLink npp"
RULES = {
    "names": (
        re.compile(r"\b(?:(?:cuda|" + "|".join(LIBRARIES.split()) + r")[A-Z]\w*|cu[A-Z][a-z]\w+|CUDART_\w+|CU_[A-Z]\w+)"),
        "let src/backends/gpu/runtime_cuda.hpp offer what it does",
        [
            "src/backends/gpu/runtime_cuda.hpp",
            "src/backends/gpu/play/cuda/cuda_runtime.h",  # stands in for the toolkit's where kernels are played
            "src/backends/gpu/memory_place.cpp",  # libraries that are loaded late, by the names of their functions
            "src/chebyshev/cufft.cpp",
            "src/distributed/nccl/library.cpp",
            "src/preconditioners/lu/cudss.cpp",
        ],
    ),
    "headers": (
        re.compile(r"#\s*include\s*<(?:cuda|cub/|cublas|cufft|cudss|cusparse|thrust/|cooperative_groups|nv|nccl|mma\.h)[^>]*>"),
        "include backends/gpu/runtime_cuda.hpp or backends/gpu/primitives.hpp",
        [
            "src/backends/gpu/runtime_cuda.hpp",
            "src/backends/gpu/primitives.cu",  # CUB, which AMD has as hipCUB
            "src/backends/gpu/play/kernels.hpp",
            "src/formats/coo/segmented_kernels.hpp",  # scans of a block by CUB
            "src/formats/csr/merge.hpp",
            "src/preconditioners/amg/gpu_aggregates.cu",
            "src/gemv/call.hpp",  # conversions of half
            "src/gemv/gpu/along/units.hpp",
        ],
    ),
    "instructions": (
        re.compile(r"\basm(?:\s+volatile)?\s*\("),
        "let src/backends/gpu offer a function for it",
        [
            "src/backends/gpu/bulk_copy.hpp",
            "src/backends/gpu/launch.hpp",
            "src/backends/gpu/peer_memory.hpp",
            "src/backends/gpu/prefetch.hpp",
            "src/backends/gpu/reduce.hpp",
            "src/backends/gpu/shared_loads.hpp",
            "src/backends/gpu/ticketed_sums.hpp",
            "src/backends/load_once.hpp",
            "src/chebyshev/gpu_sums.cu",
            "src/chebyshev/matrix_units.hpp",
            "src/chebyshev/sum_tiles.hpp",
            "src/formats/csr/merge.hpp",
            "src/gemv/gpu/load.hpp",
            "src/gemv/gpu/pieces.hpp",
            "src/solvers/cg_resident/words.hpp",
            "src/backends/gpu/play/fibre.cpp",  # of a processor
            "src/io/eight_lines.hpp",
        ],
    ),
}


def sources(folders):
    for folder in map(pathlib.Path, folders):
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".cpp", ".hpp", ".cu", ".h"}:
                code = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
                yield path.resolve().relative_to(folder.resolve().parent).as_posix(), code


def main(folders):
    faults, needed = [], {kind: set() for kind in RULES}
    for name, code in sources(folders):
        for kind, (pattern, instead, allowed) in RULES.items():
            found = pattern.findall(code)
            if not found:
                continue
            if name in allowed:
                needed[kind].add(name)
            else:
                faults.append(f"{name}: {' '.join(found[0].split())} is a vendor's, {len(found)} in all: {instead}")
    for kind, (_, _, allowed) in RULES.items():
        for name in sorted(set(allowed) - needed[kind]):
            if name.split("/")[0] in {pathlib.Path(folder).name for folder in folders}:
                faults.append(f"{name} has none of a vendor's {kind}: take it off the list in tests/vendor_names.py")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
