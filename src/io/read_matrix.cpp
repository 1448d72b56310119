// SPDX-License-Identifier: BSD-3-Clause
#include "assemble_parts.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace furrow {
namespace {

/// Without folder and endings.
std::string plain_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view ending : {".gz", ".mtx", ".mm"})
    if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

} // namespace

problem read_matrix(const std::filesystem::path& file) {
  const io::content what = io::recognise(file);
  if (what == io::content::cache) return io::read_cache(file);
  if (what == io::content::tar || what == io::content::gzip_tar) return io::read_archive(file, what);
  io::entries e = io::read_entries(file, what);
  const std::string about = fmt::format("Matrix Market {}, {} stored entries", io::describe(e.head), e.head.stored);
  return {io::assemble(std::move(e)), {}, plain_name(file), about};
}

matrix_header read_header(const std::filesystem::path& file) {
  const io::content what = io::recognise(file);
  if (what == io::content::cache) return io::read_cache_header(file);
  if (what == io::content::tar || what == io::content::gzip_tar) return io::read_archive_header(file, what);
  io::head_lines lines;
  io::read_ahead(*io::open_text(file, what), io::text_bound(file, what), file.string(), lines);
  return lines.head;
}

double estimate_read_memory(const matrix_header& head) {
  const double pieces = static_cast<double>(threads()) * io::piece_bytes * 2; // text and parsed entries of each thread
  return io::estimate_assembly(head) + pieces;
}

} // namespace furrow
