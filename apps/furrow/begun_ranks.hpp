// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>

#include <memory>
#include <string>
#include <vector>

namespace furrow::cli {

/// Opens the ranks of MPI that a starter began beside this process, which says so by variables, and holds the words of
/// each and the version of its program to those of the first: ranks with other words would wait for each other for
/// ever, or do what the first one says and not theirs. Throws `fault::usage` on the first rank where they differ;
/// returns false on the others then, which have nothing to do. The ranks of a solve stay open, for `take_begun_ranks`;
/// what runs alone on each rank has closed them again. Ranks that are no processes of Open MPI meet for a solve alone.
bool meet_begun_ranks(const std::vector<std::string>& words);
/// Those ranks; once. Opens them where nobody has met.
std::unique_ptr<communicator> take_begun_ranks();
/// Rethrows what is being thrown: on all ranks alike where they have met and not been taken, so that none waits.
[[noreturn]] void fail_with_begun_ranks();

} // namespace furrow::cli
