// SPDX-License-Identifier: BSD-3-Clause
#include "environment.hpp"

#include "kernel_numbers.hpp"

#include <furrow/error.hpp>
#include <furrow/formats.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <vector>

namespace furrow {
namespace {

std::string_view no_off(std::string_view value) {
  return value == "off" ? std::string_view{} : "choose off, or leave it unset";
}
/// What else only the use can tell: the parameters of a format, and whether it has that kernel on the device.
std::string_view no_format(std::string_view value) {
  static const std::string wrong = [] {
    std::vector<std::string_view> names;
    for (const auto* f : formats()) names.push_back(f->name);
    return fmt::format("there is no such format: choose auto or one of {}", fmt::join(names, ", "));
  }();
  const auto name = value.substr(0, value.find(':'));
  const bool known = value == "auto" || std::ranges::find(formats(), name, &format_entry::name) != formats().end();
  return known ? std::string_view{} : wrong;
}
std::string_view no_kernel(std::string_view value) {
  const auto has = [name = kernel_name(value)](const format_backend& b) {
    return std::ranges::find(b.kernels, name, &kernel_entry::name) != b.kernels.end();
  };
  const auto one_has = [&](const format_entry* f) { return has(f->cpu) || has(f->gpu); };
  if (value == "auto" || std::ranges::any_of(formats(), one_has)) return {};
  return "no format has such a kernel: choose auto or another, or leave it unset";
}
std::string_view no_instruction_set(std::string_view value) {
  if (value == "baseline" || value == "avx2" || value == "avx512") return {};
  return "there is no such instruction set: choose baseline, avx2 or avx512, or leave it unset";
}
bool is_number_from(int least, std::string_view value) {
  int n = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), n);
  return failed == std::errc{} && end == value.data() + value.size() && n >= least;
}
std::string_view no_size(std::string_view value) {
  return is_number_from(1, value) ? std::string_view{}
                                  : "no number of ranks, from 1 on; mpirun sets it: leave it unset where none runs";
}
std::string_view no_rank(std::string_view value) {
  return is_number_from(0, value) ? std::string_view{}
                                  : "no number of a rank, from 0 on; mpirun sets it: leave it unset where none runs";
}

constexpr environment_variable variables[] = {
    {"FURROW_FORMAT", "NAME[:PARAMETERS]", "the format where --format says auto", no_format},
    {"FURROW_KERNEL", "NAME", "the kernel where --kernel says auto", no_kernel},
    {"FURROW_CACHE", "FOLDER or off",
     "where --tune remembers winners, instead of furrow/ in XDG_CACHE_HOME or ~/.cache"},
    {"FURROW_ISA", "baseline, avx2 or avx512", "a narrower instruction set for the CPU kernels", no_instruction_set},
    {"FURROW_GRAPHS", "off", "no loops inside CUDA graphs: the host starts every iteration", no_off},
    {"CUDA_VISIBLE_DEVICES", "N,...", "the GPUs that can be seen"},
    {"FURROW_MPI", "FILE", "the module libfurrow_mpi.so that ranks of MPI need, where it is elsewhere"},
    {"FURROW_NCCL", "FILE", "the library libnccl.so.2 that GPUs of ranks may talk through, where it is elsewhere"},
    {"OMPI_COMM_WORLD_SIZE", "N", "how many ranks mpirun has begun (Open MPI says so)", no_size},
    {"OMPI_COMM_WORLD_RANK", "N", "which of them this process is", no_rank},
    {"PMI_SIZE", "N", "how many ranks mpirun has begun (MPICH and others say so)", no_size},
    {"PMI_RANK", "N", "which of them this process is", no_rank},
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

std::string_view text_of(const environment_variable& v) {
  const char* const value = std::getenv(v.name.data()); // NOLINT(concurrency-mt-unsafe): nobody sets one
  return value ? value : "";
}

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view what) {
  throw error(fault::usage, fmt::format("{}={}: {}", name, value, what));
}

} // namespace

std::span<const environment_variable> environment_variables() { return variables; }

std::string_view environment(std::string_view name) {
  const auto* const found = std::ranges::find(variables, name, &environment_variable::name);
  require(found != std::end(variables), "a variable of the environment is missing in the list");
  const std::string_view value = text_of(*found), wrong = mistake_in(*found);
  if (!wrong.empty()) refuse(name, value, wrong);
  return value;
}

std::string_view mistake_in(const environment_variable& v) {
  const std::string_view value = text_of(v);
  return value.empty() || !v.mistake ? std::string_view{} : v.mistake(value);
}

void check_environment() {
  for (const environment_variable& v : variables) environment(v.name);
}

} // namespace furrow
