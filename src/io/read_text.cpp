// SPDX-License-Identifier: BSD-3-Clause
#include "read_text.hpp"

#include "archive_reader.hpp"
#include "refuse.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::io {
namespace {

constexpr std::size_t longest_head = std::size_t(1) << 26;

} // namespace

content recognise(const std::filesystem::path& file) {
  const open_handle handle(file);
  if (!std::filesystem::is_regular_file(file)) refuse(handle.name, "is not a regular file");
  std::string first(512, '\0');
  first.resize(open_file(file)->read_all(first.data(), first.size()));
  if (first.empty()) refuse(handle.name, "the file is empty");
  if (is_cache(first)) return content::cache;
  if (is_tar(first)) return content::tar;
  if (!first.starts_with("\x1F\x8B")) return content::text;
  first.resize(512);
  first.resize(open_gzip(file)->read_all(first.data(), first.size()));
  return is_tar(first) ? content::gzip_tar : content::gzip_text;
}

double text_bound(const std::filesystem::path& file) {
  return static_cast<double>(std::filesystem::file_size(file)) * largest_gzip_ratio;
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

entries read_entries(byte_stream& in, double text_bytes, const text_origin& origin) {
  head_lines lines;
  const std::string ahead = read_ahead(in, text_bytes, origin.name, lines);
  return parse_stream(in, ahead, lines, origin);
}

entries read_entries(const std::filesystem::path& file, content what) {
  text_origin origin{file.string(), {}};
  if (what == content::gzip_text) {
    origin.open = [file] { return open_gzip(file); };
    const auto in = origin.open();
    return read_entries(*in, text_bound(file), origin);
  }
  origin.open = [file] { return open_file(file); };
  const mapped_file map(file);
  if (!has_banner(map.text())) refuse_unknown(map.text().substr(0, 65536), origin.name);
  const head_lines lines = *parse_head(map.text(), true, origin.name);
  check_promise(lines, static_cast<double>(map.text().size() - lines.length), origin.name);
  return parse_mapped(map, lines, origin);
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
