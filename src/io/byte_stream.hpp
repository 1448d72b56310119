// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace furrow::io {

/// Bytes from the first to the last, once.
struct byte_stream {
  virtual ~byte_stream() = default;
  /// The next bytes, at most `wanted`; 0 only at the end. Throws fault::input where the bytes cannot be had.
  virtual std::size_t read(char* to, std::size_t wanted) = 0;

  /// Exactly `wanted` bytes, or fewer at the end.
  std::size_t read_all(char* to, std::size_t wanted) {
    std::size_t got = 0;
    for (std::size_t n; got < wanted && (n = read(to + got, wanted - got)) > 0;) got += n;
    return got;
  }
};

/// Text in memory, for those who read streams.
struct memory_stream final : byte_stream {
  std::string_view text;
  explicit memory_stream(std::string_view text) : text(text) {}
  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t some = std::min(wanted, text.size());
    std::memcpy(to, text.data(), some);
    text.remove_prefix(some);
    return some;
  }
};

} // namespace furrow::io
