// SPDX-License-Identifier: BSD-3-Clause
#include "assemble_parts.hpp"
#include "ending.hpp"
#include "line_ends.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace furrow {
namespace io {

std::string plain_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view ending : {".gz", ".bz2", ".xz", ".zst", ".mtx", ".mm"})
    if (name.size() > ending.size() && has_ending(name, ending)) name = name.substr(0, name.size() - ending.size());
  return name;
}

std::string origin_of_text(const matrix_header& head) {
  return fmt::format("Matrix Market {}, {} stored entries", describe(head), head.stored);
}

} // namespace io

std::shared_ptr<io::input> source::open(const std::filesystem::path& name) { return std::make_shared<io::input>(name); }

problem read_matrix(const source& from) {
  using io::content;
  io::input& in = from.opened();
  return io::read_unchanged(in, [&]() -> problem {
    const content what = io::recognise(in);
    if (what.kind == content::kind::cache) return io::read_cache(in);
    if (what.kind == content::kind::tar) return io::read_archive(in, what.packed);
    if (what.kind == content::kind::petsc) return io::read_petsc(in, what.packed);
    io::entries e = io::read_entries(in, what.packed);
    const std::string about = io::origin_of_text(e.head);
    return {io::assemble(std::move(e)), {}, io::plain_name(in.path()), about};
  });
}

matrix_header read_header(const source& from) {
  using io::content;
  io::input& in = from.opened();
  return io::read_unchanged(in, [&] {
    const content what = io::recognise(in);
    if (what.kind == content::kind::cache) return io::read_cache_header(in);
    if (what.kind == content::kind::tar) return io::read_archive_header(in, what.packed);
    if (what.kind == content::kind::petsc) return io::read_petsc_header(in, what.packed);
    io::head_lines lines;
    const auto bytes = io::unpacked(what.packed, in.open(), in.name());
    io::line_feeds text(*bytes);
    io::read_ahead(text, io::text_bound(in, what.packed), in.name(), lines);
    return lines.head;
  });
}

double estimate_read_memory(const matrix_header& head) {
  const double pieces = static_cast<double>(threads()) * io::piece_bytes * 2; // text and parsed entries of each thread
  return io::estimate_assembly(head) + pieces;
}

double estimate_read_memory(const source& from, const matrix_header& head) {
  const auto kind = io::recognise(from.opened()).kind;
  const bool triplets = kind == io::content::kind::cache || kind == io::content::kind::petsc; // are read as they are
  return triplets ? 16 * static_cast<double>(head.stored) : estimate_read_memory(head);
}

} // namespace furrow
