// SPDX-License-Identifier: BSD-3-Clause
#include "printable.hpp"

#include <cstddef>

namespace furrow {
namespace {

struct letter {
  char32_t code;
  std::size_t bytes; ///< 0: no UTF-8
};

/// The letter that `text` begins with; the shortest form only, no surrogates, nothing beyond U+10FFFF.
letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {0, 0};
  char32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(k) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest[bytes] || code > 0x10FFFF || surrogate) return {0, 0};
  return {code, bytes};
}

constexpr struct {
  char32_t first, last;
} hidden[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     // controls
    {0x061C, 0x061C}, {0x200E, 0x200F}, // direction marks
    {0x2028, 0x202E},                   // line and paragraph ends, embeddings and overrides of the direction
    {0x2066, 0x2069},                   // isolates
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, // byte order mark, annotations
};

bool is_hidden(char32_t code) {
  for (const auto& range : hidden)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

} // namespace

std::string printable(std::string_view text, char instead) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const letter next = first_letter(text);
    if (next.bytes == 0 || is_hidden(next.code)) out += instead;
    else out += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes ? next.bytes : 1);
  }
  return out;
}

} // namespace furrow
