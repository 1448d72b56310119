// SPDX-License-Identifier: BSD-3-Clause
#include "begun_ranks.hpp"

#include "core/check.hpp"
#include "distributed/bytes.hpp"
#include "distributed/nccl/library.hpp"
#include "distributed/together.hpp"

#include <furrow/version.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace furrow::cli {
namespace {

std::unique_ptr<communicator> met;

/// FNV-1a, also of the border to the next word.
std::uint64_t add_to(std::uint64_t hash, std::string_view word) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return (hash ^ 0x100) * prime;
}

/// Two numbers that ranks of the same words and the same program share. Their form stays the same in every version.
struct start_print {
  std::uint64_t words = 0xcbf29ce484222325, program = 0xcbf29ce484222325;
};

start_print print_of(const std::vector<std::string>& words) {
  start_print mine;
  for (const std::string& word : words) mine.words = add_to(mine.words, word);
  mine.program = add_to(mine.program, version);
  return mine;
}

/// What differs; empty: nothing.
std::string difference(const std::vector<start_print>& all) {
  const auto differing = [&](auto what) {
    return std::ranges::find_if(all, [&](const start_print& p) { return p.*what != all.front().*what; }) - all.begin();
  };
  const auto ranks = std::ptrdiff_t(all.size());
  if (const auto rank = differing(&start_print::program); rank < ranks)
    return fmt::format(
        "rank {} is another version of Furrow than rank 0, which is {}: install the same on all machines", rank,
        version);
  if (const auto rank = differing(&start_print::words); rank < ranks)
    return fmt::format("rank {} was begun with other arguments than rank 0, and all ranks of one mpirun work on one "
                       "system: give all of them the same, or start each work by a mpirun of its own",
                       rank);
  return {};
}

} // namespace

bool meet_begun_ranks(const std::vector<std::string>& words) {
  const int begun = ranks_begun();
  const bool solves = !words.empty() && words.front() == "solve";
  if (begun < 2) return true;
  if (!solves && !std::getenv("OMPI_COMM_WORLD_SIZE")) return true; // NOLINT(concurrency-mt-unsafe): no threads yet
  if (solves) nccl::keep_to_graphs();                               // before MPI has threads
  auto ranks = open_mpi();
  check(ranks->size() == begun, fault::device,
        "mpirun has begun {} ranks, but MPI knows of {}: start Furrow by the mpirun of the MPI that it was built with",
        begun, ranks->size());
  if (const std::string what = difference(gather_each(*ranks, print_of(words))); !what.empty()) {
    check(ranks->rank() > 0, fault::usage, "{}", what);
    return false;
  }
  if (solves) met = std::move(ranks);
  return true;
}

std::unique_ptr<communicator> take_begun_ranks() {
  if (!met) return open_mpi();
  std::unique_ptr<communicator> ranks = std::move(met);
  together(*ranks, [] {}); // or `fail_with_begun_ranks` on another rank
  return ranks;
}

void fail_with_begun_ranks() {
  if (!met) throw;
  const std::unique_ptr<communicator> ranks = std::move(met);
  together(*ranks, [] { throw; });
  throw error(fault::internal, "ranks that fail together did not");
}

} // namespace furrow::cli
