// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace furrow::io {

/// A file that appears under its name only when it is complete and on the disk: written beside it under a name that
/// nobody else has, and renamed by `commit`. Without `commit` nothing is left behind.
///
/// A link is followed: the file behind it is replaced. A file that is replaced keeps its mode, and its owner and group
/// where the system lets us. What is no regular file (a pipe, /dev/null), and what standard output or standard error
/// already write to (/dev/stdout), is written to directly; `-` is standard output. Throws fault::input, "FILE: ...",
/// where the system refuses.
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
  /// Where it is written until then, for `part_of_atomic_file`; empty where it is written directly, in its order.
  const std::filesystem::path& beside() const { return beside_; }

private:
  [[noreturn]] void fail(const char* what, int why);
  void open_beside();
  void open_directly(int stream);

  std::string name_;                    ///< as it was given, for messages
  std::filesystem::path file_, beside_; ///< beside_ is empty where the file is written directly
  std::size_t note_ = 0;                ///< of beside_, for remove_unfinished
  int descriptor_ = -1;
};

/// Bytes that another process, or another thread, puts into the file that an `atomic_file` writes beside its own.
///
/// `apart`: processes of several machines write. Each write goes to the disk at once then: a client of NFS else sends
/// whole pages, in which the bytes that another machine puts beside its own would become zeros again.
class part_of_atomic_file {
public:
  /// `name`: for messages. It is only opened: where `beside` is not there, or may not be written to, it is not open.
  part_of_atomic_file(std::string name, const std::filesystem::path& beside, bool apart);
  part_of_atomic_file(const part_of_atomic_file&) = delete;
  ~part_of_atomic_file();

  bool is_open() const { return descriptor_ >= 0; }
  void write_at(const void* data, std::size_t bytes, index_t offset);
  /// Brings what was written to the disk. Before the `commit` of the other one.
  void close();

private:
  std::string name_;
  int descriptor_ = -1;
};

/// Whether `atomic_file` replaces `file`, which is there or not, and does not write to it directly.
bool is_replaced(const std::filesystem::path& file);

/// The file itself, behind symbolic links, whether it is there or not.
std::filesystem::path behind_links(std::filesystem::path file);

/// Removes what is half-written beside its file. For the handler of a signal that ends the process.
void remove_unfinished() noexcept;

} // namespace furrow::io
