// SPDX-License-Identifier: BSD-3-Clause
#include "environment.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace furrow {
namespace {

constexpr environment_variable variables[] = {
    {"FURROW_FORMAT", "NAME[:PARAMETERS]", "the format where --format says auto"},
    {"FURROW_KERNEL", "NAME", "the kernel where --kernel says auto"},
    {"FURROW_CACHE", "FOLDER or off",
     "where --tune remembers winners, instead of furrow/ in XDG_CACHE_HOME or ~/.cache"},
    {"FURROW_ISA", "baseline, avx2 or avx512", "a narrower instruction set for the CPU kernels"},
    {"FURROW_GRAPHS", "off", "no loops inside CUDA graphs: the host starts every iteration"},
    {"CUDA_VISIBLE_DEVICES", "N,...", "the GPUs that can be seen"},
    {"FURROW_MPI", "FILE", "the module libfurrow_mpi.so that ranks of MPI need, where it is elsewhere"},
    {"FURROW_NCCL", "FILE", "the library libnccl.so.2 that GPUs of ranks may talk through, where it is elsewhere"},
    {"OMPI_COMM_WORLD_SIZE", "N", "how many ranks mpirun has begun (Open MPI says so)"},
    {"OMPI_COMM_WORLD_RANK", "N", "which of them this process is"},
    {"PMI_SIZE", "N", "how many ranks mpirun has begun (MPICH and others say so)"},
    {"PMI_RANK", "N", "which of them this process is"},
    {"NO_COLOR", "anything", "no colours"},
    {"FURROW_MKL", "FILE", "the library libmkl_rt.so that benchmarks compare with"},
    {"FURROW_OPENBLAS", "FILE", "the library libopenblas.so that benchmarks compare with"},
    {"FURROW_COMMIT", "TEXT", "the commit that results name where the sources came without git"},
    {"FURROW_DATA", "FOLDER", "real matrices for tests, which are skipped by name without it"},
    {"FURROW_PYTHON", "FILE", "a Python with SciPy for tests that compare with it"},
    {"FURROW_RECEIPT", "FILE", "what the tests of the GPU part write about their run"},
    {"FURROW_PRINT_FINGERPRINTS", "anything", "a test prints what the generators make"},
    {"FURROW_FAULT", "KIND:N", "the call of the system that fails in tests of failures"},
    {"FURROW_FAULT_COUNT", "FILE", "where these tests count such calls"},
};

} // namespace

std::span<const environment_variable> environment_variables() { return variables; }

std::string_view environment(std::string_view name) {
  const auto* const found = std::ranges::find(variables, name, &environment_variable::name);
  require(found != std::end(variables), "a variable of the environment is missing in the list");
  const char* const value = std::getenv(found->name.data()); // NOLINT(concurrency-mt-unsafe): nobody sets one
  return value ? value : "";
}

void refuse_environment(std::string_view name, std::string_view what) {
  throw error(fault::usage, fmt::format("{}={}: {}", name, environment(name), what));
}

} // namespace furrow
