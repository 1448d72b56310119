// SPDX-License-Identifier: BSD-3-Clause
#include "unfinished.hpp"

#include "atomic_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <unistd.h>

namespace furrow::io {
namespace {

/// A name that a handler of signals can read: it takes no lock and no memory.
struct note {
  enum state : int { empty, being_written, complete };
  std::atomic<int> is = empty;
  std::array<char, PATH_MAX> name{};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<note, 16> notes;

} // namespace

std::size_t note_unfinished(std::string_view name) noexcept {
  if (name.size() >= PATH_MAX) return 0;
  for (std::size_t k = 0; k < notes.size(); ++k) {
    int expected = note::empty;
    if (!notes[k].is.compare_exchange_strong(expected, note::being_written)) continue;
    *std::ranges::copy(name, notes[k].name.begin()).out = '\0';
    notes[k].is = note::complete;
    return k + 1;
  }
  return 0;
}

void forget_unfinished(std::size_t number) noexcept {
  if (number) notes[number - 1].is = note::empty;
}

void remove_unfinished() noexcept {
  for (const note& n : notes)
    if (n.is == note::complete) ::unlink(n.name.data());
}

} // namespace furrow::io
