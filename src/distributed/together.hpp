// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bytes.hpp"

#include "preconditioners/entry.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string>

namespace furrow {

/// How a rank's own work ended, as it goes to the others.
struct rank_outcome {
  enum what_it_was : int { fine, failed, refused } was = fine;
  int kind = 0; ///< a `fault`, or a `status` of a refusal
  std::array<char, 504> text{};

  void say(what_it_was w, int of_kind, std::string_view sentence) {
    was = w, kind = of_kind;
    std::copy_n(sentence.begin(), std::min(sentence.size(), text.size() - 1), text.begin());
  }
};

/// What is thrown on all ranks alike.
struct error_of_all final : error {
  using error::error;
};

/// Throws what the first rank that did not end well says, on all of them; a sentence of one among several names it.
void throw_first_failure(communicator& c, const rank_outcome& mine);

/// What the first rank that has something to say says, on all of them; it is named where it speaks for itself alone,
/// and there are several. Empty: none had.
std::string first_sentence(communicator& c, std::string_view mine);

/// f() on every rank, which must not talk to the others; where it throws on one, all of them throw the same `error` or
/// `refusal`: they go on together or not at all.
template <class F> void together(communicator& c, F f) {
  rank_outcome mine;
  try {
    f();
  } catch (const refusal& r) {
    mine.say(rank_outcome::refused, int(r.why), r.message);
  } catch (const error& e) {
    mine.say(rank_outcome::failed, int(e.kind), e.what());
  } catch (const std::bad_alloc&) {
    mine.say(rank_outcome::failed, int(fault::memory), "out of memory");
  } catch (const std::exception& e) {
    mine.say(rank_outcome::failed, int(fault::internal), e.what());
  }
  throw_first_failure(c, mine);
}

/// What f() returns, which all ranks call and in which they talk to each other. What `together` throws there ends it on
/// all of them; anything else happened on this one alone, and the others would wait for it: it ends the work of all.
template <class F> auto as_one(communicator& c, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const error_of_all&) {
    throw;
  } catch (const error& e) {
    c.abort(e);
  } catch (const std::bad_alloc&) {
    c.abort(error(fault::memory, "out of memory"));
  } catch (const std::exception& e) {
    c.abort(error(fault::internal, e.what()));
  }
  throw error(fault::internal, "abort of a communicator returned, which it must not");
}

} // namespace furrow
