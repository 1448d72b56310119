// SPDX-License-Identifier: BSD-3-Clause
#include "read_text.hpp"

#include "archive_reader.hpp"
#include "core/check.hpp"
#include "line_ends.hpp"
#include "refuse.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace furrow::io {

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

std::unique_ptr<byte_stream> open_bytes(const std::filesystem::path& file, content what) {
  return what == content::gzip_text ? open_gzip(file) : open_file(file);
}
std::unique_ptr<byte_stream> open_text(const std::filesystem::path& file, content what) {
  return with_line_feeds(open_bytes(file, what));
}
double text_bound(const std::filesystem::path& file, content what) {
  return static_cast<double>(std::filesystem::file_size(file)) * (what == content::gzip_text ? largest_gzip_ratio : 1);
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

entries read_entries(byte_stream& in, double text_bytes, const text_origin& origin) {
  head_lines lines;
  const std::string ahead = read_ahead(in, text_bytes, origin.name, lines);
  return parse_stream(in, ahead, lines, origin);
}

entries read_entries(const std::filesystem::path& file, content what, object wanted) {
  const text_origin origin{file.string(), [file, what] { return open_text(file, what); }};
  const auto read_stream = [&] {
    const auto in = origin.open();
    head_lines lines;
    const std::string ahead = read_ahead(*in, text_bound(file, what), origin.name, lines, wanted);
    return parse_stream(*in, ahead, lines, origin);
  };
  if (what == content::gzip_text) return read_stream();
  const mapped_file map(file);
  if (ends_lines_with_returns(map.text())) return read_stream();
  if (!has_banner(map.text())) refuse_unknown(map.text().substr(0, 65536), origin.name);
  const head_lines lines = *parse_head(map.text(), true, origin.name, wanted);
  check_promise(lines, static_cast<double>(map.text().size() - lines.length), origin.name);
  return parse_mapped(map, lines, origin);
}

void check_vector_memory(const matrix_header& head, const std::string& name) {
  // The entries are still there when the vector is made of them.
  const bool sparse = head.layout == matrix_header::layout::coordinate;
  const double entries = std::min(static_cast<double>(head.stored), static_cast<double>(head.shape.rows));
  const double wanted = 8.0 * static_cast<double>(head.shape.rows) + (sparse ? 16 : 8) * entries;
  const auto free = static_cast<double>(available_host_memory());
  check(wanted <= free, fault::memory,
        "{}: a vector of {} elements needs {:.1f} GB of memory, of which {:.1f} GB can be had", name, head.shape.rows,
        wanted / 1e9, free / 1e9);
}

void check_size(index_t size, std::optional<index_t> rows, const std::string& name) {
  check(!rows || size == *rows, fault::input, "{}: has {} elements, but the matrix has {} rows", name, size, *rows);
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
