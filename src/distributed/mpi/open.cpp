// SPDX-License-Identifier: BSD-3-Clause
#include "begun.hpp"
#include "module.hpp"

#include "core/check.hpp"
#include "core/environment.hpp"

#include <furrow/communicator.hpp>

#include <charconv>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace furrow {
namespace {

constexpr const char* module_name = "libfurrow_mpi.so";

/// The module where FURROW_MPI says, beside the program or the library, in the folder of libraries beside that of the
/// program, or where the loader looks.
std::vector<std::string> places() {
  if (const auto named = environment("FURROW_MPI"); !named.empty()) return {std::string(named)};
  std::vector<std::string> all;
  const auto add = [&](const std::filesystem::path& folder) { all.push_back((folder / module_name).string()); };
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&open_mpi), &here) != 0 && here.dli_fname)
    add(std::filesystem::path(here.dli_fname).parent_path());
  std::error_code none;
  if (const auto program = std::filesystem::read_symlink("/proc/self/exe", none); !none) {
    add(program.parent_path());
    add(program.parent_path().parent_path() / FURROW_LIBRARY_FOLDER);
  }
  all.emplace_back(module_name);
  return all;
}

/// Loaded once and never again let go: MPI ends with the process. Its names are for all: MPI loads parts of itself that
/// look for them.
const furrow_mpi_functions& functions() {
  std::string why;
  for (const std::string& place : places()) {
    if (place.find('/') != std::string::npos && !std::filesystem::exists(place)) continue;
    void* const module = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!module) {
      why = dlerror(); // NOLINT(concurrency-mt-unsafe): glibc keeps one for each thread
      continue;
    }
    const auto table = reinterpret_cast<furrow_mpi_table>(dlsym(module, "furrow_mpi_module"));
    const furrow_mpi_functions* const found = table ? table(furrow_mpi_version) : nullptr;
    check(found != nullptr, fault::device, "{} is of another version of Furrow: install the one of this", place);
    return *found;
  }
  throw error(fault::device,
              fmt::format("ranks of MPI need the module {}, which could not be loaded{}: build Furrow where MPI is "
                          "installed, Debian's libopenmpi-dev, or name the module by FURROW_MPI",
                          module_name, why.empty() ? "" : fmt::format(" ({})", why)));
}

void must(const char* sentence) {
  if (sentence) throw error(fault::device, sentence);
}

class mpi_rank final : public communicator {
public:
  explicit mpi_rank(const void* comm) : mpi_(functions()) { must(mpi_.open(comm, &group_)); }
  mpi_rank(const mpi_rank&) = delete;
  mpi_rank& operator=(const mpi_rank&) = delete;
  ~mpi_rank() override { mpi_.close(group_); }

  int rank() const override { return mpi_.rank(group_); }
  int size() const override { return mpi_.size(group_); }
  void gather_all(cview<std::byte> mine, view<std::byte> all) override {
    require(all.size == mine.size * size(), "what all ranks bring needs room for all");
    must(mpi_.gather_all(group_, mine.data, mine.size, all.data));
  }
  void start(std::span<const outgoing> sends, std::span<const incoming> receives) override {
    sends_.clear(), receives_.clear();
    for (const outgoing& s : sends) sends_.push_back({s.rank, const_cast<std::byte*>(s.data.data), s.data.size});
    for (const incoming& r : receives) receives_.push_back({r.rank, r.data.data, r.data.size});
    must(mpi_.start(group_, sends_.data(), int(sends_.size()), receives_.data(), int(receives_.size())));
  }
  void finish() override { must(mpi_.finish(group_)); }
  [[noreturn]] void abort(const error& why) override {
    constexpr int codes[] = {2, 3, 4, 4, 5}; // of the command line
    std::fprintf(stderr, "furrow: rank %d: %s\n", rank(), why.what());
    std::fflush(stderr);
    mpi_.abort(group_, codes[static_cast<int>(why.kind)]);
    std::abort();
  }

private:
  const furrow_mpi_functions& mpi_;
  furrow_mpi_group* group_ = nullptr;
  std::vector<furrow_mpi_piece> sends_, receives_;
};

/// A number of the environment, which has seen that it is one; `otherwise` where it is not set.
int number_of(const char* variable, int otherwise) {
  const std::string_view text = environment(variable);
  int n = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

} // namespace

std::unique_ptr<communicator> open_mpi(const void* comm) { return std::make_unique<mpi_rank>(comm); }

int ranks_begun() { return number_of("OMPI_COMM_WORLD_SIZE", number_of("PMI_SIZE", 1)); }

int rank_begun() { return number_of("OMPI_COMM_WORLD_RANK", number_of("PMI_RANK", 0)); }

} // namespace furrow
