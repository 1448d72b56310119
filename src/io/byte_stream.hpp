// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

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

using stream_opener = std::function<std::unique_ptr<byte_stream>()>;

/// The bytes of a file, as they are. Throws "FILE: ..." where it is missing, a directory, or not readable.
std::unique_ptr<byte_stream> open_file(const std::filesystem::path& file);

/// The bytes inside a gzip file of one member or several; sizes and checksums are checked. What follows the last member
/// must be zeros (padding of tapes).
std::unique_ptr<byte_stream> open_gzip(const std::filesystem::path& file);

inline constexpr double largest_gzip_ratio = 1032; ///< no byte of a deflate stream makes more bytes of text

} // namespace furrow::io
