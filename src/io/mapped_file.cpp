// SPDX-License-Identifier: BSD-3-Clause
#include "mapped_file.hpp"

#include "refuse.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace furrow::io {

open_handle::open_handle(const std::filesystem::path& file) : name(file.string()) {
  descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    refuse(name, errno == ENOENT ? "there is no such file" : std::string("cannot be opened: ") + std::strerror(errno));
  struct stat about {};
  const bool known = ::fstat(descriptor, &about) == 0;
  if (known && S_ISDIR(about.st_mode)) {
    ::close(descriptor);
    refuse(name, "is a directory, not a file");
  }
  if (known && S_ISREG(about.st_mode)) size = about.st_size;
}

open_handle::~open_handle() { ::close(descriptor); }

mapped_file::mapped_file(const std::filesystem::path& file) {
  const open_handle handle(file);
  size_ = handle.size;
  if (size_ == 0) return;
  void* const data = ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ, MAP_PRIVATE, handle.descriptor, 0);
  if (data == MAP_FAILED) refuse(handle.name, std::string("cannot be mapped: ") + std::strerror(errno));
  data_ = static_cast<const char*>(data);
  ::madvise(data, static_cast<std::size_t>(size_), MADV_SEQUENTIAL);
}

mapped_file::~mapped_file() {
  if (data_) ::munmap(const_cast<char*>(data_), static_cast<std::size_t>(size_));
}

namespace {
constexpr index_t page = 4096;
}

void mapped_file::fetch(index_t first, index_t last) const {
#ifdef MADV_POPULATE_READ
  first = first / page * page;
  last = std::min(last, size_);
  if (last > first)
    ::madvise(const_cast<char*>(data_) + first, static_cast<std::size_t>(last - first), MADV_POPULATE_READ);
#else
  (void)first, (void)last;
#endif
}

void mapped_file::forget(index_t first, index_t last) const {
  first = (std::max<index_t>(first, 0) + page - 1) / page * page;
  last = last >= size_ ? size_ : last / page * page;
  if (last > first) ::madvise(const_cast<char*>(data_) + first, static_cast<std::size_t>(last - first), MADV_DONTNEED);
}

} // namespace furrow::io
