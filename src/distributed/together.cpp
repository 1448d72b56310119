// SPDX-License-Identifier: BSD-3-Clause
#include "together.hpp"

#include <fmt/format.h>

namespace furrow {
namespace {

/// Whether a rank was told to stop, which none of them has to answer for.
bool was_stopped(const rank_outcome& o) {
  return o.was == rank_outcome::refused &&
         (status(o.kind) == status::interrupted || status(o.kind) == status::max_iterations);
}

std::string named_sentence(const std::vector<rank_outcome>& all, index_t rank) {
  const rank_outcome& o = all[static_cast<std::size_t>(rank)];
  const bool everywhere = std::ranges::all_of(all, [&](const rank_outcome& other) { return other.text == o.text; });
  return everywhere || was_stopped(o) ? std::string(o.text.data()) : fmt::format("rank {}: {}", rank, o.text.data());
}

} // namespace

std::string first_sentence(communicator& c, std::string_view mine) {
  rank_outcome said;
  said.say(rank_outcome::fine, 0, mine);
  const auto all = gather_each(c, said);
  const auto first = std::ranges::find_if(all, [](const rank_outcome& o) { return o.text[0] != '\0'; });
  return first == all.end() ? std::string() : named_sentence(all, first - all.begin());
}

void throw_first_failure(communicator& c, const rank_outcome& mine) {
  const auto all = gather_each(c, mine);
  const auto first = std::ranges::find_if(all, [](const rank_outcome& o) { return o.was != rank_outcome::fine; });
  if (first == all.end()) return;
  const std::string sentence = named_sentence(all, first - all.begin());
  if (first->was == rank_outcome::refused) throw refusal{status(first->kind), sentence};
  throw error_of_all(fault(first->kind), sentence);
}

} // namespace furrow
