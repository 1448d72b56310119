// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "byte_stream.hpp"

#include <furrow/error.hpp>
#include <furrow/view.hpp>

#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

namespace furrow::io {

/// What `furrow::source` has opened: a regular file, whose bytes all threads read where they want, or a pipe (a FIFO,
/// standard input, a terminal), whose bytes come once, in their order.
///
/// Nothing is mapped: a mapping of a file that gets shorter ends the process with SIGBUS.
class input {
public:
  /// `-` is standard input. Throws fault::input, "NAME: ...", where it is missing, a directory, or not readable, and
  /// for a FIFO that nobody opens for writing within a second.
  explicit input(const std::filesystem::path& file);
  input(const input&) = delete;
  input& operator=(const input&) = delete;
  ~input();

  const std::filesystem::path& path() const { return path_; }
  const std::string& name() const { return name_; } ///< for messages: printable

  bool is_file() const { return size_ >= 0; }
  index_t size() const { return size_; } ///< of a file, when it was opened
  std::timespec written() const { return written_; }
  /// Bytes of a file from `offset` on; fewer than `wanted` only at its end. From any thread.
  std::size_t read_at(char* to, std::size_t wanted, index_t offset) const;

  /// All bytes from the first one. What a pipe brings is kept, so that it can be opened again.
  std::unique_ptr<byte_stream> open();
  /// The same for the last time: what a pipe brings is no longer kept. Opening it again throws fault::input.
  std::unique_ptr<byte_stream> open_for_good();
  /// Puts all that a pipe brings into a file without a name in TMPDIR, and is a file from then on.
  void spool();

  /// Throws fault::input where the file is no longer what was opened: shorter, longer or written to.
  void check_unchanged() const;
  [[noreturn]] void refuse_changed() const;

private:
  friend struct input_stream;
  void open_standard_input();
  void open_file();
  void wait_for_writer();
  std::size_t receive(char* to, std::size_t wanted);                    ///< the next bytes of a pipe
  std::size_t replay(char* to, std::size_t wanted, std::size_t offset); ///< what was kept, then the next bytes

  std::filesystem::path path_;
  std::string name_;
  int descriptor_ = -1;
  index_t size_ = -1; ///< -1: a pipe
  std::timespec written_{};
  std::string kept_;       ///< the first bytes of a pipe
  std::size_t offset_ = 0; ///< bytes that came from the pipe
  bool keeping_ = true;
};

/// What `read` returns. Where the file changed meanwhile, that is what is wrong, whatever else is.
template <class F> auto read_unchanged(const input& from, F read) {
  try {
    auto out = read();
    from.check_unchanged();
    return out;
  } catch (const error& wrong) {
    if (wrong.kind == fault::input) from.check_unchanged();
    throw;
  }
}

} // namespace furrow::io
