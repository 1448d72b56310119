// SPDX-License-Identifier: BSD-3-Clause
#include "archive_reader.hpp"
#include "line_ends.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace furrow::io {
namespace {

using std::filesystem::path;

/// The current file of an archive. Owns the archive where it was opened for this file alone.
struct member_stream final : byte_stream {
  std::unique_ptr<archive_reader> owned;
  archive_reader& from;
  explicit member_stream(archive_reader& from) : from(from) {}
  explicit member_stream(std::unique_ptr<archive_reader> archive) : owned(std::move(archive)), from(*owned) {}
  std::size_t read(char* to, std::size_t wanted) override { return from.read(to, wanted); }
};

/// The text of the current file.
std::unique_ptr<byte_stream> text_of(archive_reader& in) {
  return with_line_feeds(std::make_unique<member_stream>(in));
}

struct tar_file {
  path file;
  bool packed;
  std::unique_ptr<archive_reader> open() const {
    return std::make_unique<archive_reader>(file.string(), packed ? open_gzip(file) : open_file(file));
  }
  /// For messages about one of its files: "ARCHIVE(FILE)".
  text_origin origin(const std::string& member) const {
    std::string shown = member; // a name may hold anything, a message is one line
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
    return {fmt::format("{}({})", file.string(), shown), [self = *this, member]() -> std::unique_ptr<byte_stream> {
              auto archive = self.open();
              while (archive->next())
                if (archive->name() == member)
                  return with_line_feeds(std::make_unique<member_stream>(std::move(archive)));
              throw error(fault::input, self.file.string() + ": the archive changed while it was read");
            }};
  }
};

bool has_ending(const std::string& name, std::string_view ending) { return name.ends_with(ending); }

/// The matrix of a SuiteSparse archive NAME.tar.gz is NAME/NAME.mtx.
bool is_main(const path& name) { return name.has_parent_path() && name.parent_path().filename() == name.stem(); }

/// Among the names of Matrix Market files, that one whose stem begins all the others.
std::string choose(const std::vector<std::string>& names, const std::string& archive) {
  if (names.empty()) refuse(archive, "the archive has no Matrix Market file (.mtx)");
  const auto shortest =
      std::min_element(names.begin(), names.end(), [](const auto& x, const auto& y) { return x.size() < y.size(); });
  const std::string start = shortest->substr(0, shortest->size() - 4) + "_";
  for (const std::string& name : names)
    if (name != *shortest && !name.starts_with(start))
      refuse(archive,
             fmt::format("the archive has several matrices ({} and {} among them), none with the name of its folder",
                         in_quotes(*shortest), in_quotes(name)));
  return *shortest;
}

/// The name of the matrix, where it is not the usual one.
std::string find_main(const tar_file& tar) {
  std::vector<std::string> names;
  for (const auto in = tar.open(); in->next();)
    if (has_ending(in->name(), ".mtx")) names.push_back(in->name());
  const auto usual = std::find_if(names.begin(), names.end(), is_main);
  return usual != names.end() ? *usual : choose(names, tar.file.string());
}

/// The right-hand side in the current file; empty, with a remark, where it is one that Furrow cannot take.
std::optional<host_array<double>> read_side(archive_reader& in, const tar_file& tar, std::string& remark) {
  const text_origin origin = tar.origin(in.name());
  try {
    entries e = read_entries(*text_of(in), in.size(), origin);
    check_vector_memory(e.head, origin.name);
    if (e.head.shape.cols == 1) return as_vector(std::move(e), origin.name);
    if (e.head.shape.cols == 0) return {};
    remark = fmt::format(", the first of {} right-hand sides", e.head.shape.cols);
    const shape2 shape = e.head.shape;
    const coo<double> all = assemble(std::move(e));
    host_array<double> b(shape.rows, 0.0);
    for (index_t k = 0; k < all.nnz(); ++k)
      if (all.col[k] == 0) b[all.row[k]] = all.val[k];
    return b;
  } catch (const error& wrong) {
    if (std::string_view(wrong.what()).find("complex matrices are not supported yet") == std::string_view::npos) throw;
    remark = ", without its complex right-hand side";
    return {};
  }
}

std::optional<problem> read_with(const tar_file& tar, const std::string& wanted) {
  std::optional<problem> out;
  std::map<std::string, std::pair<std::optional<host_array<double>>, std::string>> sides;
  std::string main;
  for (const auto in = tar.open(); in->next();) {
    const std::string name = in->name();
    if (!has_ending(name, ".mtx")) continue;
    if (!out && (wanted.empty() ? is_main(name) : name == wanted)) {
      const text_origin origin = tar.origin(name);
      entries e = read_entries(*text_of(*in), in->size(), origin);
      const std::string about = fmt::format("Matrix Market {}, {} stored entries", describe(e.head), e.head.stored);
      out = problem{assemble(std::move(e)), {}, path(name).stem().string(), about};
      main = name;
    } else if (has_ending(name, "_b.mtx")) {
      auto& [b, remark] = sides[name];
      b = read_side(*in, tar, remark);
    }
  }
  if (!out) return out;
  const auto side = sides.find(main.substr(0, main.size() - 4) + "_b.mtx");
  if (side == sides.end()) return out;
  auto& [b, remark] = side->second;
  if (b && b->size() != out->a.shape.rows)
    refuse(tar.file.string(), fmt::format("{} has {} values, but the matrix has {} rows", in_quotes(side->first),
                                          b->size(), out->a.shape.rows));
  out->b = std::move(b);
  out->origin += remark.empty() ? ", with its right-hand side" : remark;
  return out;
}

} // namespace

problem read_archive(const path& file, content what) {
  const tar_file tar{file, what == content::gzip_tar};
  if (auto out = read_with(tar, "")) return std::move(*out);
  return std::move(*read_with(tar, find_main(tar)));
}

matrix_header read_archive_header(const path& file, content what) {
  const tar_file tar{file, what == content::gzip_tar};
  const auto head_of = [&](archive_reader& in) {
    head_lines lines;
    read_ahead(*text_of(in), in.size(), tar.origin(in.name()).name, lines);
    return lines.head;
  };
  for (const auto in = tar.open(); in->next();)
    if (has_ending(in->name(), ".mtx") && is_main(in->name())) return head_of(*in);
  const std::string name = find_main(tar);
  for (const auto in = tar.open(); in->next();)
    if (in->name() == name) return head_of(*in);
  refuse(file.string(), "the archive changed while it was read");
}

} // namespace furrow::io
