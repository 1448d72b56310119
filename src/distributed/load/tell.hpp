// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/bytes.hpp"
#include "distributed/together.hpp"

#include <optional>
#include <string>

namespace furrow {

/// `mine` of rank `from`, on all ranks.
std::string tell(communicator& c, int from, std::string mine);
template <class T> T tell(communicator& c, int from, const T& mine) {
  return gather_each(c, mine)[static_cast<std::size_t>(from)];
}

/// Throws what the first rank that has something says, on all of them alike. What is wrong with an input is said as one
/// reader of it says it, of any length; a rank that failed by itself (memory, internal) is named where there are
/// several.
void throw_first_fault(communicator& c, const std::optional<error>& mine);

/// f() unless something failed before; keeps what it throws, which the others must hear of before this rank goes on.
template <class F> void keep_failure(std::optional<error>& failed, F f) {
  if (failed) return;
  try {
    f();
  } catch (const error& e) {
    failed.emplace(e.kind, e.what());
  } catch (const std::bad_alloc&) {
    failed.emplace(fault::memory, "out of memory");
  } catch (const std::exception& e) {
    failed.emplace(fault::internal, e.what());
  }
}

/// f() on every rank, as `together` does, for what is wrong with an input: the sentence names no rank.
template <class F> void alike(communicator& c, F f) {
  std::optional<error> mine;
  keep_failure(mine, f);
  throw_first_fault(c, mine);
}

} // namespace furrow
