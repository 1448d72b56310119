// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "byte_stream.hpp"

#include <string_view>

struct archive;
struct archive_entry;

namespace furrow::io {

/// Whether a file that begins with these 512 bytes is a tar archive: its first header has the right checksum.
bool is_tar(std::string_view first_bytes);

/// The files in a tar archive, one after the other. Throws fault::input, "FILE: ...", for a damaged archive, and for a
/// name that is absolute or has '..' in it. The end is reached only when all bytes below have been read and checked.
class archive_reader {
public:
  archive_reader(std::string file, std::unique_ptr<byte_stream> below);
  archive_reader(const archive_reader&) = delete;
  archive_reader& operator=(const archive_reader&) = delete;
  ~archive_reader();

  /// Goes to the next regular file. False at the end.
  bool next();
  const std::string& name() const { return name_; }
  double size() const { return size_; }
  /// Bytes of the current file.
  std::size_t read(char* to, std::size_t wanted);

private:
  [[noreturn]] void fail();
  struct source;

  std::string file_, name_;
  double size_ = 0;
  std::unique_ptr<source> source_;
  archive* tar_;
};

} // namespace furrow::io
