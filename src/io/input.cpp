// SPDX-License-Identifier: BSD-3-Clause
#include "input.hpp"

#include "refuse.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace furrow::io {

struct input_stream final : byte_stream {
  input& from;
  std::size_t offset = 0;
  explicit input_stream(input& from) : from(from) {}

  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t got =
        from.is_file() ? from.read_at(to, wanted, static_cast<index_t>(offset)) : from.replay(to, wanted, offset);
    offset += got;
    return got;
  }
};

namespace {

[[noreturn]] void refuse_errno(const std::string& name, const char* what) {
  refuse(name, std::string(what) + ": " + std::strerror(errno));
}

/// A file without a name: it goes away with its descriptor.
int open_nameless(const std::string& name) {
  const char* const wish = std::getenv("TMPDIR");
  const std::string folder = wish && *wish ? wish : "/tmp";
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) { // a file system that has no such files
    std::string named = folder + "/furrow-XXXXXX";
    file = ::mkostemp(named.data(), O_CLOEXEC);
    if (file >= 0) ::unlink(named.c_str());
  }
  if (file < 0) refuse(name, "cannot be kept in " + in_quotes(folder) + " (TMPDIR): " + std::strerror(errno));
  return file;
}

} // namespace

input::input(const std::filesystem::path& file) : path_(file), name_(printable(file.string())) {
  try {
    if (file == "-") open_standard_input();
    else open_file();
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) refuse_errno(name_, "cannot be read");
    if (S_ISDIR(about.st_mode)) refuse(name_, "is a directory, not a file");
    // Standard input may be a file of which somebody has read the beginning. Files of /proc do not know their size.
    if (S_ISREG(about.st_mode) && about.st_size > 0 && ::lseek(descriptor_, 0, SEEK_CUR) == 0) {
      size_ = about.st_size;
      written_ = about.st_mtim;
      ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(about.st_mode) && file != "-") {
      wait_for_writer();
    }
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw;
  }
}

input::~input() { ::close(descriptor_); }

void input::open_standard_input() {
  descriptor_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  if (descriptor_ < 0) refuse_errno(name_, "standard input cannot be read");
}

/// Without waiting, as a FIFO that nobody writes into would have it.
void input::open_file() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  // Who holds a lease on a file (a file server) is asked to give it back, which takes a while.
  if (descriptor_ < 0 && errno == EWOULDBLOCK) descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ >= 0) return;
  check(!path_.empty(), fault::input, "the name of the file to read is empty");
  if (errno == ENOENT) refuse(name_, "there is no such file");
  refuse_errno(name_, "cannot be opened");
}

/// A FIFO has no end before its first writer: reading gives nothing, as it does at the end.
void input::wait_for_writer() {
  constexpr int milliseconds = 1000;
  pollfd pipe{descriptor_, POLLIN, 0};
  int ready;
  do ready = ::poll(&pipe, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  if (ready != 0) return; // bytes, or a writer that has come and gone
  char first = 0;
  const ssize_t got = ::read(descriptor_, &first, 1);
  if (got == 0) refuse(name_, "is not a regular file but a pipe that nobody writes into");
  if (got < 0) return; // there is a writer that still has nothing to say
  kept_ = first;
  offset_ = 1;
}

std::size_t input::read_at(char* to, std::size_t wanted, index_t offset) const {
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t got = ::pread(descriptor_, to + done, wanted - done, offset + static_cast<index_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_errno(name_, "cannot be read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t input::receive(char* to, std::size_t wanted) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, wanted);
    if (got >= 0) {
      offset_ += static_cast<std::size_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno == EAGAIN) {
      pollfd pipe{descriptor_, POLLIN, 0};
      ::poll(&pipe, 1, -1);
    } else if (errno != EINTR) {
      refuse_errno(name_, "cannot be read");
    }
  }
}

std::size_t input::replay(char* to, std::size_t wanted, std::size_t offset) {
  if (offset < kept_.size()) {
    const std::size_t some = std::min(wanted, kept_.size() - offset);
    std::memcpy(to, kept_.data() + offset, some);
    return some;
  }
  if (!keeping_) kept_ = {};
  if (offset < offset_) refuse(name_, "has been read already, and a pipe can be read only once");
  const std::size_t got = receive(to, wanted);
  if (keeping_) kept_.append(to, got);
  return got;
}

std::unique_ptr<byte_stream> input::open() { return std::make_unique<input_stream>(*this); }

std::unique_ptr<byte_stream> input::open_for_good() {
  keeping_ = false;
  return open();
}

void input::spool() {
  if (is_file()) return;
  const int file = open_nameless(name_);
  const auto in = open_for_good();
  std::vector<char> buffer(std::size_t(1) << 17);
  try {
    std::size_t size = 0;
    while (const std::size_t got = in->read(buffer.data(), buffer.size())) {
      for (std::size_t done = 0; done < got;) {
        const ssize_t put = ::write(file, buffer.data() + done, got - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) refuse_errno(name_, "cannot be kept in a file (TMPDIR says where)");
        done += static_cast<std::size_t>(put);
      }
      size += got;
    }
    struct stat about {};
    ::fstat(file, &about);
    size_ = static_cast<index_t>(size);
    written_ = about.st_mtim;
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(std::exchange(descriptor_, file));
}

void input::refuse_changed() const { refuse(name_, "the file changed while it was read"); }

void input::check_unchanged() const {
  if (!is_file()) return;
  struct stat about {};
  const bool same = ::fstat(descriptor_, &about) == 0 && about.st_size == size_ &&
                    about.st_mtim.tv_sec == written_.tv_sec && about.st_mtim.tv_nsec == written_.tv_nsec;
  if (!same) refuse_changed();
}

} // namespace furrow::io
