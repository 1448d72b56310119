// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "byte_stream.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace furrow::io {

/// Whether a file that begins with these 512 bytes is a tar archive: its first header has the right checksum.
bool is_tar(std::string_view first_bytes);

/// The files in a tar archive, one after the other: the current one is what `read` reads. Formats: ustar and what was
/// before it, with the long names of GNU and the attributes path and size of POSIX (pax). Throws fault::input,
/// "FILE: ...", for a damaged archive, and for a name that is absolute or has '..' in it. The end is reached only when
/// all bytes below have been read and checked.
class tar_reader final : public byte_stream {
public:
  /// `file`: its name in messages.
  tar_reader(std::string file, std::unique_ptr<byte_stream> below) : file_(std::move(file)), below_(std::move(below)) {}

  /// Goes to the next regular file. False at the end.
  bool next();
  const std::string& name() const { return name_; } ///< as the archive has it, printable or not
  std::uint64_t size() const { return size_; }
  std::size_t read(char* to, std::size_t wanted) override;

private:
  /// What stands before a header and goes before what it says.
  struct attributes {
    std::string name;
    std::uint64_t size = 0;
    bool has_size = false, sparse = false;
  };
  using block = std::array<char, 512>;

  bool read_block(block& b);
  bool read_header(block& raw); ///< the next one; false at the end
  void take_size(std::string_view header, const attributes& before);
  std::string read_text();
  void read_attributes(attributes& a);
  void skip();
  [[noreturn]] void fail(const std::string& what) const;

  std::string file_, name_;
  std::unique_ptr<byte_stream> below_;
  std::uint64_t size_ = 0, left_ = 0, padding_ = 0; ///< of the current member: bytes, those still to read, zeros behind
  bool sparse_ = false;
};

} // namespace furrow::io
