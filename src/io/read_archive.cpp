// SPDX-License-Identifier: BSD-3-Clause
#include "ending.hpp"
#include "line_ends.hpp"
#include "read_text.hpp"
#include "refuse.hpp"
#include "tar_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace furrow::io {
namespace {

using std::filesystem::path;

struct archive {
  input& from; ///< a file: it is read more than once
  packing packed;

  tar_reader open() const { return {from.name(), unpacked(packed, from.open(), from.name())}; }
  /// For messages about one of its files.
  std::string name_of(const std::string& member) const { return fmt::format("{}({})", from.name(), printable(member)); }
};

/// The matrix of a SuiteSparse archive NAME.tar.gz is NAME/NAME.mtx.
bool is_main(const path& name) { return name.has_parent_path() && name.parent_path().filename() == name.stem(); }

/// What tar of a Macintosh packs beside NAME: attributes, no matrix.
bool is_shadow(const path& name) { return name.filename().string().starts_with("._"); }

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
std::string find_main(const archive& tar) {
  std::vector<std::string> names;
  for (auto in = tar.open(); in.next();)
    if (has_ending(in.name(), ".mtx") && !is_shadow(in.name())) names.push_back(in.name());
  const auto usual = std::find_if(names.begin(), names.end(), is_main);
  return usual != names.end() ? *usual : choose(names, tar.from.name());
}

/// Reads the current file as the right-hand side of `p`. One that Furrow cannot take is passed over, with a remark.
void read_side(tar_reader& in, const archive& tar, problem& p) {
  const std::string name = tar.name_of(in.name());
  try {
    line_feeds text(in);
    head_lines lines;
    const std::string ahead = read_ahead(text, static_cast<double>(in.size()), name, lines);
    const shape2 shape = lines.head.shape;
    if (shape.cols == 0) return;
    if (shape.rows != p.a.shape.rows)
      refuse(tar.from.name(), fmt::format("{} has {} values, but the matrix has {} rows", in_quotes(in.name()),
                                          shape.rows, p.a.shape.rows));
    check_vector_memory(lines.head, name);
    const coo<double> all = assemble(parse_stream(text, ahead, lines, name));
    p.b = host_array<double>(shape.rows, 0.0);
    for (index_t k = 0; k < all.nnz(); ++k)
      if (all.col[k] == 0) (*p.b)[all.row[k]] = all.val[k];
    p.origin +=
        shape.cols == 1 ? ", with its right-hand side" : fmt::format(", the first of {} right-hand sides", shape.cols);
  } catch (const error& wrong) {
    if (std::string_view(wrong.what()).find("complex matrices are not supported yet") == std::string_view::npos) throw;
    p.origin += ", without its complex right-hand side";
  }
}

/// Two files that could be meant. Of two with one name, as where an archive was added to, tar unpacks the last.
[[noreturn]] void refuse_second(const archive& tar, const std::string& first, const std::string& second) {
  refuse(tar.from.name(),
         first == second
             ? fmt::format("the archive has {} more than once: unpack it, and name the file", in_quotes(first))
             : fmt::format("the archive has several matrices ({} and {} among them): unpack it, and name one of them",
                           in_quotes(first), in_quotes(second)));
}

/// The matrix `wanted`, or the usual one, and its right-hand side, NAME_b.mtx beside NAME.mtx. Nothing else is kept; a
/// right-hand side that stands before its matrix costs a second pass.
std::optional<problem> read_with(const archive& tar, const std::string& wanted) {
  std::optional<problem> out;
  std::set<std::string> passed, twice;
  std::string main, side;
  bool has_side = false;
  for (auto in = tar.open(); in.next();) {
    const std::string name = in.name();
    if (!has_ending(name, ".mtx")) continue;
    if (wanted.empty() ? is_main(name) : name == wanted) {
      if (out) refuse_second(tar, main, name);
      entries e = read_entries(in, static_cast<double>(in.size()), tar.name_of(name));
      const std::string about = fmt::format("Matrix Market {}, {} stored entries", describe(e.head), e.head.stored);
      out = problem{assemble(std::move(e)), {}, path(name).stem().string(), about};
      main = name;
      side = name.substr(0, name.size() - 4) + "_b.mtx";
    } else if (out && name == side) {
      if (has_side || passed.contains(side)) refuse_second(tar, side, side);
      read_side(in, tar, *out);
      has_side = true;
    } else if (!out && has_ending(name, "_b.mtx")) {
      if (!passed.insert(name).second) twice.insert(name);
    }
  }
  if (twice.contains(side)) refuse_second(tar, side, side);
  if (!passed.contains(side)) return out;
  for (auto in = tar.open(); in.next();)
    if (in.name() == side) {
      read_side(in, tar, *out);
      break;
    }
  return out;
}

} // namespace

problem read_archive(input& from, packing packed) {
  const archive tar{from, packed};
  if (auto out = read_with(tar, "")) return std::move(*out);
  if (auto out = read_with(tar, find_main(tar))) return std::move(*out);
  from.refuse_changed();
}

matrix_header read_archive_header(input& from, packing packed) {
  const archive tar{from, packed};
  const auto head_of = [&](tar_reader& in) {
    line_feeds text(in);
    head_lines lines;
    read_ahead(text, static_cast<double>(in.size()), tar.name_of(in.name()), lines);
    return lines.head;
  };
  for (auto in = tar.open(); in.next();)
    if (has_ending(in.name(), ".mtx") && is_main(in.name())) return head_of(in);
  const std::string name = find_main(tar);
  for (auto in = tar.open(); in.next();)
    if (in.name() == name) return head_of(in);
  from.refuse_changed();
}

} // namespace furrow::io
