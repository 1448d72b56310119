// SPDX-License-Identifier: BSD-3-Clause
#include "archive_reader.hpp"

#include "refuse.hpp"

#include "core/check.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <vector>

namespace furrow::io {

/// What libarchive reads from. Exceptions wait here until the C code has returned.
struct archive_reader::source {
  std::unique_ptr<byte_stream> below;
  std::vector<char> buffer = std::vector<char>(std::size_t(1) << 17);
  std::exception_ptr problem;

  static la_ssize_t read(archive*, void* self, const void** data) {
    auto& s = *static_cast<source*>(self);
    *data = s.buffer.data();
    try {
      return static_cast<la_ssize_t>(s.below->read_all(s.buffer.data(), s.buffer.size()));
    } catch (...) {
      s.problem = std::current_exception();
      return -1;
    }
  }
};

bool is_tar(std::string_view first) {
  if (first.size() < 512) return false;
  unsigned sum = 0;
  for (std::size_t k = 0; k < 512; ++k) sum += k >= 148 && k < 156 ? ' ' : static_cast<unsigned char>(first[k]);
  const std::string said(first.substr(148, 8));
  char* end = nullptr;
  const unsigned long value = std::strtoul(said.c_str(), &end, 8);
  return end != said.c_str() && value == sum && first[0] != '\0';
}

archive_reader::archive_reader(std::string file, std::unique_ptr<byte_stream> below)
    : file_(std::move(file)), source_(std::make_unique<source>()), tar_(archive_read_new()) {
  source_->below = std::move(below);
  check(tar_ != nullptr, fault::memory, "{}: no memory to read the archive", file_);
  archive_read_support_format_tar(tar_);
  if (archive_read_open(tar_, source_.get(), nullptr, source::read, nullptr) != ARCHIVE_OK) {
    const std::string why = archive_error_string(tar_) ? archive_error_string(tar_) : "unknown";
    const std::exception_ptr problem = source_->problem;
    archive_read_free(tar_);
    if (problem) std::rethrow_exception(problem);
    refuse(file_, "the archive is damaged: " + why);
  }
}

archive_reader::~archive_reader() { archive_read_free(tar_); }

void archive_reader::fail() {
  if (source_->problem) std::rethrow_exception(source_->problem);
  const char* const why = archive_error_string(tar_);
  refuse(file_, std::string("the archive is damaged: ") + (why ? why : "unknown"));
}

bool archive_reader::next() {
  for (;;) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(tar_, &entry);
    if (status == ARCHIVE_EOF) { // whatever stands behind the end mark is read for its checksums
      while (source_->below->read(source_->buffer.data(), source_->buffer.size()) > 0) {
      }
      return false;
    }
    if (status != ARCHIVE_OK) fail();
    const char* const path = archive_entry_pathname(entry);
    if (!path) refuse(file_, "the archive has a file without a readable name");
    name_ = path;
    const std::filesystem::path parts(name_);
    bool outside = parts.is_absolute();
    for (const auto& part : parts) outside |= part == "..";
    if (outside) refuse(file_, "the archive has a file with a name that leads outside: " + in_quotes(name_));
    size_ = static_cast<double>(archive_entry_size(entry));
    if (archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry)) return true;
  }
}

std::size_t archive_reader::read(char* to, std::size_t wanted) {
  const la_ssize_t got = archive_read_data(tar_, to, wanted);
  if (got < 0) fail();
  return static_cast<std::size_t>(got);
}

} // namespace furrow::io
