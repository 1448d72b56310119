// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace furrow::io {

/// A file that appears under its name only when it is complete: written beside it and renamed by `commit`. Without
/// `commit` nothing is left behind. A name that is no regular file (a pipe, /dev/null) is written to directly;
/// `-` is standard output.
/// Throws fault::input, "FILE: ...", where the system refuses.
class atomic_file {
public:
  explicit atomic_file(const std::filesystem::path& file);
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file();

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// At a place of its own; threads may do so at the same time.
  void write_at(const void* data, std::size_t bytes, index_t offset);
  /// Makes the file `bytes` long, with zeros where nothing was written.
  void resize(index_t bytes);
  void commit();

private:
  [[noreturn]] void fail(const char* what);

  std::filesystem::path file_, beside_; ///< beside_ is empty where the file is written directly
  int descriptor_ = -1;
};

} // namespace furrow::io
