// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include "core/check.hpp"

#include <fmt/format.h>

#include <cstring>

namespace furrow::play {
namespace {

/// Whether a barrier lies between an earlier visit and this one, or both are of one thread.
bool ordered(const visit& earlier, const visit& now, int wave) {
  if (!earlier.happened()) return true;
  if (earlier.block != now.block) return false;
  if (earlier.thread == now.thread || earlier.phase != now.phase) return true;
  return earlier.thread / wave == now.thread / wave && earlier.meeting != now.meeting;
}

} // namespace

shadow::race shadow::read(index_t element, const visit& now, int wave) {
  cell& c = cells_[element];
  race found;
  if (!ordered(c.writer, now, wave)) found = {c.writer, true};
  if (ordered(c.reader, now, wave)) c.reader = now;
  else c.other_reader = now;
  return found;
}

shadow::race shadow::write(index_t element, const visit& now, int wave) {
  cell& c = cells_[element];
  race found;
  if (!ordered(c.writer, now, wave)) found = {c.writer, true};
  else if (!ordered(c.reader, now, wave)) found = {c.reader, false};
  else if (!ordered(c.other_reader, now, wave)) found = {c.other_reader, false};
  c.writer = now;
  return found;
}

void memory::add(std::string name, const void* data, index_t elements, int element_bytes, bool writable) {
  if (elements == 0) return;
  arrays_.push_back({std::move(name), reinterpret_cast<std::uintptr_t>(data), elements, element_bytes, false, writable,
                     true, shadow(writable ? elements : 0)});
}

void* memory::share(const char* name, index_t elements, int element_bytes) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * static_cast<std::size_t>(element_bytes);
  const auto begin_block = [&](array& a) {
    std::byte* const at = room_.get() + (a.begin - reinterpret_cast<std::uintptr_t>(room_.get()));
    if (!a.live) std::memset(at, 0xff, bytes);
    a.live = true;
    return static_cast<void*>(at);
  };
  for (auto& a : arrays_)
    if (a.shared && a.elements == elements && a.element_bytes == element_bytes && a.name == name) return begin_block(a);
  if (!room_) room_ = std::make_unique<std::byte[]>(shared_bytes);
  constexpr std::size_t apart = 256; // an index just beyond an array is not one of its neighbour
  check(used_ + bytes <= shared_bytes, fault::internal, "a block shares {} bytes, and a device has {} for it",
        used_ + bytes, shared_bytes);
  arrays_.push_back({name, reinterpret_cast<std::uintptr_t>(room_.get() + used_), elements, element_bytes, true, true,
                     false, shadow(elements)});
  used_ += (bytes + 2 * apart - 1) / apart * apart;
  return begin_block(arrays_.back());
}

void memory::end_block() {
  for (auto& a : arrays_)
    if (a.shared) {
      a.live = false;
      a.seen.forget();
    }
}

void memory::begin_kernel() {
  std::erase_if(arrays_, [](const array& a) { return a.shared; });
  used_ = 0;
  for (auto& a : arrays_) a.seen.forget();
}

memory::place memory::find(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto inside = [&](const array& a) {
    return a.live && address - a.begin < static_cast<std::uintptr_t>(a.elements) * std::uintptr_t(a.element_bytes);
  };
  const auto place_in = [&](int k) {
    last_ = k;
    const array& a = (*this)[k];
    return place{k, static_cast<index_t>((address - a.begin) / std::uintptr_t(a.element_bytes))};
  };
  if (static_cast<std::size_t>(last_) < arrays_.size() && inside((*this)[last_])) return place_in(last_);
  for (int k = 0; k < static_cast<int>(arrays_.size()); ++k)
    if (inside((*this)[k])) return place_in(k);
  return {};
}

std::string memory::name_of(const place& p) const { return fmt::format("{}[{}]", (*this)[p.array].name, p.element); }

} // namespace furrow::play
