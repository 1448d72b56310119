// SPDX-License-Identifier: BSD-3-Clause
#include "tar_reader.hpp"

#include "refuse.hpp"
#include "scan_number.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace furrow::io {
namespace {

constexpr std::uint64_t longest_text = 1 << 20; ///< a name, or the attributes of a file
constexpr std::uint64_t largest = std::uint64_t(1) << 62;

/// The text of a field, up to its first zero.
std::string_view text_of(std::string_view field) { return field.substr(0, field.find('\0')); }

/// A number in octal digits; GNU writes large ones in binary, with the first bit set.
std::optional<std::uint64_t> number_of(std::string_view field) {
  std::uint64_t value = 0;
  if (field[0] & '\x80') {
    if (field[0] != '\x80') return {}; // negative, or beyond 2^64
    for (const char c : field.substr(1)) {
      if (value >> 56) return {};
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  field = text_of(field);
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  for (const char c : field) {
    if (c < '0' || c > '7' || value >> 60) return {};
    value = value << 3 | static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

/// Old archives sum bytes with a sign.
bool has_right_sum(std::string_view header) {
  std::int64_t sum = 0, signed_sum = 0;
  for (std::size_t k = 0; k < header.size(); ++k) {
    const char c = k >= 148 && k < 156 ? ' ' : header[k];
    sum += static_cast<unsigned char>(c);
    signed_sum += static_cast<signed char>(c);
  }
  const auto said = number_of(header.substr(148, 8));
  return said && (*said == static_cast<std::uint64_t>(sum) || *said == static_cast<std::uint64_t>(signed_sum));
}

std::string name_in(std::string_view header) {
  const std::string name(text_of(header.substr(0, 100)));
  const bool posix = header.substr(257, 6) == std::string_view("ustar\0", 6); // GNU has other things there
  const std::string_view prefix = posix ? text_of(header.substr(345, 155)) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

bool leads_outside(const std::filesystem::path& name) {
  return name.is_absolute() || std::any_of(name.begin(), name.end(), [](const auto& part) { return part == ".."; });
}

} // namespace

bool is_tar(std::string_view first) { return first.size() >= 512 && first[0] && has_right_sum(first.substr(0, 512)); }

void tar_reader::fail(const std::string& what) const { refuse(file_, "the archive is damaged: " + what); }

/// False at the end of the stream.
bool tar_reader::read_block(block& b) {
  const std::size_t got = below_->read_all(b.data(), b.size());
  if (got > 0 && got < b.size()) fail("it is cut short inside a header");
  return got > 0;
}

std::size_t tar_reader::read(char* to, std::size_t wanted) {
  if (sparse_) refuse(file_, in_quotes(name_) + " is stored as a sparse file, which is not supported");
  const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, left_));
  if (some == 0) return 0;
  const std::size_t got = below_->read(to, some);
  if (got == 0) fail("it is cut short inside " + in_quotes(name_));
  left_ -= got;
  return got;
}

/// Goes behind the current member.
void tar_reader::skip() {
  std::array<char, 1 << 14> buffer;
  sparse_ = false;
  for (left_ += std::exchange(padding_, 0); left_ > 0;) read(buffer.data(), buffer.size());
}

/// All of the current member, which is about the next one.
std::string tar_reader::read_text() {
  if (size_ > longest_text) fail("a name or the attributes of a file are longer than 1 MiB");
  std::string text(size_, '\0');
  read_all(text.data(), text.size());
  skip();
  return text;
}

/// Lines "LENGTH KEY=VALUE\n", where LENGTH counts the whole line.
void tar_reader::read_attributes(attributes& a) {
  const std::string all = read_text();
  for (std::string_view rest = all; !rest.empty() && rest[0] != '\0';) {
    std::size_t length = 0, digits = 0;
    while (digits < rest.size() && digits < 8 && is_digit(rest[digits]))
      length = 10 * length + static_cast<std::size_t>(rest[digits++] - '0');
    if (digits + 3 > length || length > rest.size() || rest[digits] != ' ' || rest[length - 1] != '\n')
      fail("the attributes of a file are no lines of KEY=VALUE");
    const std::string_view line = rest.substr(digits + 1, length - digits - 2);
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view key = line.substr(0, equals), value = line.substr(std::min(equals + 1, line.size()));
    if (key == "path") a.name = text_of(value);
    if (key.starts_with("GNU.sparse.")) a.sparse = true;
    if (key == "size") {
      a.size = 0;
      for (const char c : value) {
        if (!is_digit(c) || a.size >= largest / 10) fail("the size of a file is no number");
        a.size = 10 * a.size + static_cast<std::uint64_t>(c - '0');
      }
      a.has_size = true;
    }
    rest.remove_prefix(length);
  }
}

bool tar_reader::read_header(block& raw) {
  skip();
  const bool more = read_block(raw);
  if (!more || std::all_of(raw.begin(), raw.end(), [](char c) { return c == '\0'; })) {
    while (below_->read(raw.data(), raw.size()) > 0) { // what stands behind the end mark is read for its checksums
    }
    return false;
  }
  if (!has_right_sum(std::string_view(raw.data(), raw.size()))) fail("the checksum of a header does not match");
  return true;
}

void tar_reader::take_size(std::string_view header, const attributes& before) {
  const char type = header[156];
  const auto size = number_of(header.substr(124, 12));
  if (!size || *size > largest) fail("the size of a file is no number");
  size_ = *size;
  // Links, devices and folders have no bytes, whatever their size says; a link of POSIX may.
  if (type >= '1' && type <= '6' && !(type == '1' && before.has_size)) size_ = 0;
  else if (before.has_size && (type < 'A' || type > 'Z')) size_ = before.size;
  left_ = size_;
  padding_ = (512 - size_ % 512) % 512;
}

bool tar_reader::next() {
  attributes before;
  for (block raw; read_header(raw);) {
    const std::string_view header(raw.data(), raw.size());
    const char type = header[156];
    name_ = name_in(header);
    take_size(header, before);
    switch (type) {
    case 'L': // GNU: a long name
      before.name = text_of(read_text());
      continue;
    case 'x': // POSIX
    case 'X': // the same, older
      read_attributes(before);
      continue;
    case 'g': // attributes of all files: dates, comments
    case 'K': // a long name of a link
    case 'V': // a name of the archive
      continue;
    case 'S': // GNU: more headers may follow that say where the holes are
      for (std::size_t flag = 482; raw[flag] && read_block(raw); flag = 504) {
      }
      break;
    case 'M':
      refuse(file_, "a part of an archive of several volumes");
    default:
      break;
    }
    if (!before.name.empty()) name_ = before.name;
    if (name_.empty()) fail("a file has no name");
    if (leads_outside(name_))
      refuse(file_, "the archive has a file with a name that leads outside: " + in_quotes(name_));
    sparse_ = before.sparse || type == 'S';
    before = {};
    const bool regular = type == '0' || type == '\0' || type == '7' || type == 'S';
    if (regular && name_.back() != '/') return true;
  }
  return false;
}

} // namespace furrow::io
