// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace furrow::io {

/// An open file. Throws fault::input, "FILE: ...", where it is missing, a directory, or not readable.
struct open_handle {
  std::string name;
  int descriptor = -1;
  index_t size = 0; ///< 0 where it has none, as a pipe

  explicit open_handle(const std::filesystem::path& file);
  open_handle(const open_handle&) = delete;
  open_handle& operator=(const open_handle&) = delete;
  ~open_handle();
};

/// A regular file in memory, read as it is touched.
class mapped_file {
public:
  explicit mapped_file(const std::filesystem::path& file);
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file();

  std::string_view text() const { return {data_, static_cast<std::size_t>(size_)}; }
  /// Brings [first, last) in at once, in place of a fault a page.
  void fetch(index_t first, index_t last) const;
  /// Takes the whole pages of [first, last) out of this process again. They come back when they are touched.
  void forget(index_t first, index_t last) const;

private:
  const char* data_ = nullptr;
  index_t size_ = 0;
};

} // namespace furrow::io
