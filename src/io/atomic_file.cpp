// SPDX-License-Identifier: BSD-3-Clause
#include "atomic_file.hpp"

#include "refuse.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace furrow::io {

void atomic_file::fail(const char* what) { refuse(file_.string(), std::string(what) + ": " + std::strerror(errno)); }

atomic_file::atomic_file(const std::filesystem::path& file) : file_(file) {
  if (file == "-") {
    descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail("standard output cannot be written");
    return;
  }
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) refuse(file.string(), "is a directory, not a file");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    descriptor_ = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    static std::atomic<unsigned> count = 0;
    // Behind a symbolic link, so that the link stays one.
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored)))
      file_ = std::filesystem::weakly_canonical(file);
    beside_ = file_;
    beside_ += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
    descriptor_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ >= 0) return;
  beside_.clear();
  if (errno == ENOENT) refuse(file.string(), "cannot be written: its folder does not exist");
  fail("cannot be written");
}

atomic_file::~atomic_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void atomic_file::write(const void* data, std::size_t bytes) {
  for (auto* p = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t done = ::write(descriptor_, p, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("cannot be written");
    p += done, bytes -= static_cast<std::size_t>(done);
  }
}

void atomic_file::write_at(const void* data, std::size_t bytes, index_t offset) {
  for (auto* p = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t done = ::pwrite(descriptor_, p, bytes, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("cannot be written");
    p += done, bytes -= static_cast<std::size_t>(done), offset += done;
  }
}

void atomic_file::resize(index_t bytes) {
  if (::ftruncate(descriptor_, bytes) != 0) fail("cannot be written");
}

void atomic_file::commit() {
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot be written");
  if (beside_.empty()) return;
  if (::rename(beside_.c_str(), file_.c_str()) != 0) fail("cannot be put in its place");
  beside_.clear();
}

} // namespace furrow::io
