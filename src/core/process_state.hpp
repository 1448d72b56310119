// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Everything that outlives a call and belongs to no object: all of the process, or of one thread.
/// tests/process_state.py holds the sources to this list; docs/library.md tells users what follows from it.
///
/// Of the process, for all threads:
///   backends/cpu/parallel.cpp      teams of threads, and how many `set_threads` asked for; a fork begins anew
///   backends/cpu/isa.cpp           whether the processor is Intel's; tests set it
///   core/page_cache.cpp           pages of ended arrays, up to `keep_host_memory`
///   core/metis_library.cpp         METIS orders and cuts one graph at a time
///   core/memory_limits.cpp         the container's limits, read once
///   backends/gpu/device.cu         GPUs in use: stream, recorder of graphs, memory pools (backends/gpu/pools.hpp),
///                                  scratch, whose turn it is
///   backends/gpu/memory.cu         what `keep_gpu_memory` was told
///   tune/gpu.cu                    clocks of the GPUs that were asked for them
///   backends/gpu/stage.hpp         16 MiB of pinned memory a GPU through which large copies go, from the first one on,
///                                  and 256 KiB for small ones to it
///   backends/gpu/memory_place.cpp  the driver's function that tells whose memory an address is
///   gemv/gpu/scratch.cu            scratch of gemv, an area a GPU
///   chebyshev/cpu_fft.cpp          plans of transforms, some of the last ones
///   chebyshev/cpu_transform.cpp    ducc0 plans one transform at a time
///   distributed/first.cpp          how many bytes of rows the first rank may gather; tests set it
///   distributed/mpi/module.cpp     the sentence that MPI's functions have said last
///   io/parse_lines.cpp             how wide lines are scanned; tests set it
///
/// Of a thread:
///   backends/cpu/parallel.cpp      the team of its own that a rank has (backends/cpu/own_team.hpp)
///   backends/gpu/device.cu         its device, and the streams of its `execution_scope`s
///   backends/cpu/scratch.hpp       scratch of products, as large as the largest one so far
///   gemv/cpu/run.cpp               scratch of gemv
///   backends/gpu/play/machine.hpp  which thread of a kernel is played, while it runs
///   backends/gpu/play/machine.cpp  the same
///   preconditioners/stop.hpp       whom a set-up asks whether to stop, and how many operations factors may take, while
///                                  it lasts
///   preconditioners/host_factors.cpp  who lets factors stay on the host, while a set-up lasts
///   preconditioners/lu/arena.cpp   where a factorisation takes its memory, while it lasts, and how often it was asked
///
/// On disk: what `tune` measured (FURROW_CACHE). Of a matrix, under its lock: its transpose. Of an operator on a GPU:
/// scratch of its kernels, which turns protect (backends/turn.hpp).
