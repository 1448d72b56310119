// SPDX-License-Identifier: BSD-3-Clause
#include "tell.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow {

std::string tell(communicator& c, int from, std::string mine) {
  mine.resize(static_cast<std::size_t>(tell(c, from, static_cast<index_t>(mine.size()))));
  const auto size = static_cast<index_t>(mine.size());
  std::vector<outgoing> out;
  std::vector<incoming> in;
  if (c.rank() == from) {
    for (int r = 0; r < c.size(); ++r)
      if (r != from) out.push_back({r, bytes_of(cview<char>(mine.data(), size))});
  } else {
    in.push_back({from, bytes_of(view<char>(mine.data(), size))});
  }
  c.start(out, in);
  c.finish();
  return mine;
}

void throw_first_fault(communicator& c, const std::optional<error>& mine) {
  constexpr int none = -1;
  const auto kinds = gather_each(c, mine ? static_cast<int>(mine->kind) : none);
  const auto first = std::ranges::find_if(kinds, [](int kind) { return kind != none; });
  if (first == kinds.end()) return;
  const auto rank = static_cast<int>(first - kinds.begin());
  std::string sentence = tell(c, rank, mine ? mine->what() : std::string());
  const fault kind{*first};
  const bool of_rank = (kind == fault::memory || kind == fault::internal) && c.size() > 1;
  const bool everywhere = std::ranges::count(kinds, *first) == c.size();
  if (of_rank && !everywhere) sentence = fmt::format("rank {}: {}", rank, sentence);
  throw error_of_all(kind, sentence);
}

} // namespace furrow
