// SPDX-License-Identifier: BSD-3-Clause
#include "read_text.hpp"

#include "refuse.hpp"
#include "tar_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace furrow::io {
namespace {

constexpr std::size_t longest_head = std::size_t(1) << 26;

} // namespace

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
  else if (is_tar(first_bytes(what.packed))) what.kind = content::kind::tar;
  if (what.kind != content::kind::text) from.spool();
  return what;
}

double text_bound(const input& from, packing packed) {
  if (!from.is_file()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(from.size()) * largest_ratio(packed);
}

std::string read_ahead(byte_stream& in, double text_bytes, const std::string& name, head_lines& lines) {
  std::string ahead;
  for (std::size_t wanted = 1 << 16;; wanted *= 2) {
    const std::size_t held = ahead.size();
    ahead.resize(wanted);
    ahead.resize(held + in.read_all(ahead.data() + held, wanted - held));
    if (!has_banner(ahead)) refuse_unknown(ahead, name);
    const bool complete = ahead.size() < wanted;
    if (const auto found = parse_head(ahead, complete, name)) {
      lines = *found;
      const double rest = complete ? static_cast<double>(ahead.size()) : text_bytes;
      check_promise(lines, rest - static_cast<double>(lines.length), name);
      return ahead;
    }
    if (wanted >= longest_head) refuse(name, "no size line in the first 64 MiB");
  }
}

entries read_entries(byte_stream& in, double text_bytes, const std::string& name) {
  head_lines lines;
  const std::string ahead = read_ahead(in, text_bytes, name, lines);
  return parse_stream(in, ahead, lines, name);
}

entries read_entries(input& from, packing packed) {
  const auto in = unpacked(packed, from.open_for_good(), from.name());
  head_lines lines;
  const std::string ahead = read_ahead(*in, text_bound(from, packed), from.name(), lines);
  if (packed == packing::none && from.is_file()) return parse_file(from, lines);
  return parse_stream(*in, ahead, lines, from.name());
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
