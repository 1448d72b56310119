// SPDX-License-Identifier: BSD-3-Clause
#include "atomic_file.hpp"

#include "refuse.hpp"
#include "unfinished.hpp"
#include "write_all.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace furrow::io {
namespace {

constexpr mode_t permissions = 0777, of_group = 0070, of_others = 0007;

using about_file = struct stat;

std::optional<about_file> look_at(const std::filesystem::path& file) {
  about_file about{};
  if (::stat(file.c_str(), &about) != 0) return {};
  return about;
}

/// Standard output or standard error where that is `file`, otherwise -1: opened once more it would be written from its
/// beginning, and replaced it would leave what is printed to a file without a name.
int stream_to(const about_file& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    about_file about{};
    if (::fstat(stream, &about) == 0 && about.st_dev == file.st_dev && about.st_ino == file.st_ino &&
        (::fcntl(stream, F_GETFL) & O_ACCMODE) != O_RDONLY)
      return stream;
  }
  return -1;
}

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) == sizeof bits) return bits;
  const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return (now << 20 ^ static_cast<std::uint64_t>(::getpid())) * 0x9E3779B97F4A7C15u;
}

/// FILE.part-RANDOM, in the same folder; shorter where the name would be too long for it.
std::filesystem::path name_beside(const std::filesystem::path& file) {
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuv";
  constexpr std::size_t longest = 230;
  std::string name = file.filename().string().substr(0, longest) + ".part-";
  std::uint64_t bits = random_bits();
  for (int k = 0; k < 12; ++k, bits >>= 5) name += digits[bits & 31];
  return file.parent_path() / name;
}

/// Gives a new file what the replaced one had. Where its group cannot be kept, that group's rights are those of others.
void take_over(int descriptor, const about_file& replaced) {
  mode_t mode = replaced.st_mode & permissions;
  const bool kept = ::fchown(descriptor, replaced.st_uid, replaced.st_gid) == 0 ||
                    ::fchown(descriptor, static_cast<uid_t>(-1), replaced.st_gid) == 0;
  if (!kept) mode = (mode & ~of_group) | (mode & of_others) << 3;
  ::fchmod(descriptor, mode); // refused by file systems without modes only
}

/// 0, or what errno says of the disk. Other refusals are of file systems that have nothing to bring there.
int bring_to_disk(int descriptor) {
  while (::fsync(descriptor) != 0)
    if (errno != EINTR) return errno == EIO || errno == ENOSPC || errno == EDQUOT ? errno : 0;
  return 0;
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// So that the new name is still there after a power failure. A folder that cannot be opened for it is no failure.
int bring_folder_to_disk(const std::filesystem::path& file) {
  const int descriptor = ::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const int failure = bring_to_disk(descriptor);
  ::close(descriptor);
  return failure;
}

/// 0, or what errno says.
int write_all_at(int descriptor, const void* data, std::size_t bytes, index_t offset) {
  for (auto* p = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t done = ::pwrite(descriptor, p, bytes, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    p += done, bytes -= static_cast<std::size_t>(done), offset += done;
  }
  return 0;
}

[[noreturn]] void refuse_file(const std::string& name, const char* what, int why) {
  refuse(name, std::string(what) + ": " + std::strerror(why));
}

} // namespace

std::filesystem::path behind_links(std::filesystem::path file) {
  constexpr int most = 40; // as the kernel
  std::error_code failed;
  for (int hop = 0; hop < most; ++hop) {
    const auto to = std::filesystem::read_symlink(file, failed);
    if (failed) break;
    file = file.parent_path() / to; // `to` alone where it is absolute
  }
  return file;
}

bool is_replaced(const std::filesystem::path& file) {
  const auto there = look_at(file);
  return !there || (S_ISREG(there->st_mode) && stream_to(*there) < 0);
}

void atomic_file::fail(const char* what, int why) { refuse_file(name_, what, why); }

atomic_file::atomic_file(const std::filesystem::path& file) : name_(file.string()), file_(file) {
  check(!file.empty(), fault::input, "the name of the file to write is empty");
  if (file == "-") {
    open_directly(STDOUT_FILENO);
    return;
  }
  const auto there = look_at(file);
  if (there && S_ISDIR(there->st_mode)) refuse(name_, "is a directory, not a file");
  if (is_replaced(file)) open_beside();
  else open_directly(stream_to(*there));
}

void atomic_file::open_directly(int stream) {
  descriptor_ = stream >= 0 ? ::fcntl(stream, F_DUPFD_CLOEXEC, 3) : ::open(file_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail("cannot be written", errno);
}

void atomic_file::open_beside() {
  std::error_code ignored;
  file_ = behind_links(file_);
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(file_, ignored))) fail("cannot be written", ELOOP);
  const auto there = look_at(file_);
  if (!there && errno == ENAMETOOLONG) fail("cannot be written", errno); // the name beside it is shorter
  if (there && ::access(file_.c_str(), W_OK) != 0) fail("cannot be written", errno);
  for (int trial = 0; trial < 100 && descriptor_ < 0; ++trial) {
    beside_ = name_beside(file_);
    note_ = note_unfinished(beside_.native());
    descriptor_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, there ? 0600 : 0666);
    if (descriptor_ >= 0) break;
    const int why = errno;
    forget_unfinished(note_);
    beside_.clear();
    if (why == ENOENT) {
      const auto about_folder = look_at(folder_of(file_));
      const bool is_there = about_folder && S_ISDIR(about_folder->st_mode);
      refuse(name_, is_there ? "cannot be written: its folder takes no new files" // as those in /proc
                             : "cannot be written: its folder does not exist");
    }
    if (why != EEXIST) fail("cannot be written", why);
  }
  if (descriptor_ < 0) fail("cannot be written", EEXIST);
  if (there) take_over(descriptor_, *there);
}

atomic_file::~atomic_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
  forget_unfinished(note_);
}

void atomic_file::write(const void* data, std::size_t bytes) {
  if (const int why = write_all(descriptor_, data, bytes)) fail("cannot be written", why);
}

void atomic_file::write_at(const void* data, std::size_t bytes, index_t offset) {
  if (const int why = write_all_at(descriptor_, data, bytes, offset)) fail("cannot be written", why);
}

void atomic_file::resize(index_t bytes) {
  if (::ftruncate(descriptor_, bytes) != 0) fail("cannot be written", errno);
}

void atomic_file::commit() {
  int why = beside_.empty() ? 0 : bring_to_disk(descriptor_);
  if (::close(descriptor_) != 0 && why == 0) why = errno;
  descriptor_ = -1;
  if (why != 0) fail("cannot be written", why);
  if (beside_.empty()) return;
  if (::rename(beside_.c_str(), file_.c_str()) != 0) fail("cannot be put in its place", errno);
  beside_.clear();
  if ((why = bring_folder_to_disk(file_)) != 0) fail("cannot be written", why);
}

part_of_atomic_file::part_of_atomic_file(std::string name, const std::filesystem::path& beside, bool apart)
    : name_(std::move(name)),
      descriptor_(::open(beside.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | (apart ? O_DSYNC : 0))) {}

part_of_atomic_file::~part_of_atomic_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void part_of_atomic_file::write_at(const void* data, std::size_t bytes, index_t offset) {
  if (const int why = write_all_at(descriptor_, data, bytes, offset)) refuse_file(name_, "cannot be written", why);
}

void part_of_atomic_file::close() {
  int why = bring_to_disk(descriptor_);
  if (::close(descriptor_) != 0 && why == 0) why = errno;
  descriptor_ = -1;
  if (why != 0) refuse_file(name_, "cannot be written", why);
}

} // namespace furrow::io
