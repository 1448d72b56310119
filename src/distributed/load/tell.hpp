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

/// f() on every rank, as `together` does, for what is wrong with an input: the sentence names no rank.
template <class F> void alike(communicator& c, F f) {
  std::optional<error> mine;
  try {
    f();
  } catch (const error& e) {
    mine.emplace(e.kind, e.what());
  } catch (const std::bad_alloc&) {
    mine.emplace(fault::memory, "out of memory");
  } catch (const std::exception& e) {
    mine.emplace(fault::internal, e.what());
  }
  throw_first_fault(c, mine);
}

} // namespace furrow
