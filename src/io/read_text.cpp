// SPDX-License-Identifier: BSD-3-Clause
#include "read_text.hpp"

#include "petsc_layout.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "core/host_room.hpp"
#include "line_ends.hpp"
#include "refuse.hpp"
#include "tar_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace furrow::io {

content recognise(input& from) {
  const auto first_bytes = [&](packing packed) {
    std::string first(512, '\0');
    first.resize(unpacked(packed, from.open(), from.name())->read_all(first.data(), first.size()));
    return first;
  };
  const std::string first = first_bytes(packing::none);
  if (first.empty()) refuse(from.name(), "the file is empty");
  content what{packing_of(first), content::kind::text};
  if (is_cache(first)) what.kind = content::kind::cache;
  else if (const std::string inside = first_bytes(what.packed); is_tar(inside)) what.kind = content::kind::tar;
  else if (is_petsc(inside)) what.kind = content::kind::petsc;
  if (what.kind == content::kind::cache || what.kind == content::kind::tar) from.spool();
  return what;
}

double text_bound(const input& from, packing packed) {
  if (!from.is_file()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(from.size()) * largest_ratio(packed);
}

std::string read_ahead(byte_stream& in, double text_bytes, const std::string& name, head_lines& lines, object wanted) {
  std::string ahead;
  for (std::size_t size = 1 << 16;; size *= 2) {
    const std::size_t held = ahead.size();
    ahead.resize(size);
    ahead.resize(held + in.read_all(ahead.data() + held, size - held));
    if (!has_banner(ahead)) refuse_unknown(ahead, name);
    const bool complete = ahead.size() < size;
    if (const auto found = parse_head(ahead, complete, name, wanted)) {
      lines = *found;
      const double rest = complete ? static_cast<double>(ahead.size()) : text_bytes;
      check_promise(lines, rest - static_cast<double>(lines.length), name);
      return ahead;
    }
  }
}

entries read_entries(byte_stream& in, double text_bytes, const std::string& name) {
  line_feeds text(in);
  head_lines lines;
  const std::string ahead = read_ahead(text, text_bytes, name, lines);
  return parse_stream(text, ahead, lines, name);
}

entries read_entries(input& from, packing packed, object wanted) {
  const auto in = unpacked(packed, from.open_for_good(), from.name());
  line_feeds text(*in);
  head_lines lines;
  const std::string ahead = read_ahead(text, text_bound(from, packed), from.name(), lines, wanted);
  if (packed == packing::none && from.is_file() && !text.ends_with_returns()) return parse_file(from, lines);
  return parse_stream(text, ahead, lines, from.name());
}

void check_vector_memory(const matrix_header& head, const std::string& name) {
  // The entries are still there when the vector is made of them.
  const bool sparse = head.layout == matrix_header::layout::coordinate;
  const double entries = std::min(static_cast<double>(head.stored), static_cast<double>(head.shape.rows));
  const double wanted = 8.0 * static_cast<double>(head.shape.rows) + (sparse ? 16 : 8) * entries;
  if (host_room free; !free.takes(wanted))
    throw_sentence(fault::memory,
                   "{}: a vector of {} elements needs {:.1f} GB of memory, of which {:.1f} GB can be had", name,
                   head.shape.rows, wanted / 1e9, free.bytes() / 1e9);
}

void check_size(index_t size, std::optional<index_t> rows, const std::string& name) {
  check(!rows || size == *rows, fault::input, "{}: has {}, but the matrix has {}", name, counted(size, "element"),
        counted(*rows, "row"));
}

host_array<double> as_vector(entries&& e, const std::string& name) {
  const shape2 shape = e.head.shape;
  if (shape.cols != 1)
    refuse(name, fmt::format("a vector has one column, this file has {} x {}", shape.rows, shape.cols));
  coo<double> a = assemble(std::move(e));
  if (a.nnz() == shape.rows) return std::move(a.val);
  host_array<double> x(shape.rows, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) x[a.row[k]] = a.val[k];
  return x;
}

} // namespace furrow::io
