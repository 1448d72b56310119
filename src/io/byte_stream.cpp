// SPDX-License-Identifier: BSD-3-Clause
#include "byte_stream.hpp"

#include "mapped_file.hpp"
#include "refuse.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace furrow::io {
namespace {

struct file_stream final : byte_stream {
  open_handle file;
  explicit file_stream(const std::filesystem::path& path) : file(path) {}

  std::size_t read(char* to, std::size_t wanted) override {
    ssize_t got;
    do got = ::read(file.descriptor, to, wanted);
    while (got < 0 && errno == EINTR);
    if (got < 0) refuse(file.name, std::string("cannot be read: ") + std::strerror(errno));
    return static_cast<std::size_t>(got);
  }
};

} // namespace

std::unique_ptr<byte_stream> open_file(const std::filesystem::path& file) {
  return std::make_unique<file_stream>(file);
}

} // namespace furrow::io
