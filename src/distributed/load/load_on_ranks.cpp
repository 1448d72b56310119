// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/load_on_ranks.hpp>

#include "part.hpp"
#include "tell.hpp"

#include "core/check.hpp"
#include "distributed/gather_rows.hpp"
#include "distributed/scatter_rows.hpp"
#include "io/line_ends.hpp"
#include "io/read_text.hpp"

#include <furrow/generate.hpp>

#include <algorithm>

namespace furrow {
namespace {

enum class way : int { whole, text, cache, generator };

/// What rank 0 finds, and tells.
struct found_in_file {
  way by = way::whole;
  io::head_lines lines{};   ///< of a text
  std::string because = {}; ///< of a whole
};

/// Of a file that is opened on rank 0.
found_in_file look_at(io::input& in) {
  const io::content what = io::recognise(in);
  using kind = enum io::content::kind;
  if (!in.is_file()) return {.because = "it comes from a pipe"};
  if (in.path() == "-") return {.because = "it is standard input"};
  if (what.packed != io::packing::none) return {.because = "it is packed"};
  if (what.kind == kind::cache) return {.by = way::cache};
  if (what.kind == kind::tar) return {.because = "it is an archive"};
  if (what.kind == kind::petsc) return {.because = "it is a file of PETSc"};
  found_in_file text{.by = way::text};
  const auto bytes = in.open();
  io::line_feeds feeds(*bytes);
  io::read_ahead(feeds, io::text_bound(in, what.packed), in.name(), text.lines);
  if (feeds.ends_with_returns()) return {.because = "its lines end with carriage returns"};
  if (text.lines.head.layout == matrix_header::layout::array) return {.because = "it is an array"};
  return text;
}

/// The same file on all ranks, or nothing and why not.
struct opened_file {
  std::optional<source> from;
  std::string because;
};
opened_file open_on_all(communicator& c, const std::string& path, const source* of_first) {
  struct identity {
    index_t size = -1;
    long long seconds = 0, nanoseconds = 0;
    bool operator==(const identity&) const = default;
  };
  opened_file file;
  identity mine;
  try {
    if (c.rank() == 0) file.from = *of_first;
    else file.from.emplace(path);
    const io::input& in = file.from->opened();
    mine = {in.size(), in.written().tv_sec, in.written().tv_nsec};
  } catch (const error&) { // rank 0 tells of it as of a file that it reads alone
  }
  const auto all = gather_each(c, mine);
  const auto other = std::ranges::find_if(all, [&](const identity& one) { return !(one == all.front()); });
  if (other != all.end())
    file.because = fmt::format("rank {} {}", other - all.begin(),
                               other->size < 0 ? "does not find it" : "finds another file of that name");
  return file;
}

/// Rank 0 reads, and sends each rank its rows.
part_of_problem load_whole(communicator& c, const source* from, const std::string& text) {
  problem whole;
  alike(c, [&] {
    if (c.rank() == 0) whole = from ? read_matrix(*from) : generate(text);
  });
  part_of_problem p = scatter_whole(c, std::move(whole.a));
  p.b = std::move(whole.b), p.name = std::move(whole.name), p.origin = std::move(whole.origin);
  return p;
}

part_of_problem load_text(communicator& c, const source& from, const io::head_lines& lines) {
  part_of_problem p = load_text_part(c, from.opened(), lines);
  p.name = io::plain_name(from.opened().path()), p.origin = io::origin_of_text(lines.head);
  return p;
}

part_of_problem load(communicator& c, std::string_view file_or_spec, const source* opened) {
  found_in_file what;
  std::optional<source> own;
  std::string text(file_or_spec);
  alike(c, [&] {
    if (c.rank() != 0) return;
    if (!opened && means_generator(text)) what.by = way::generator;
    else {
      if (!opened) opened = &own.emplace(text);
      what = io::read_unchanged(opened->opened(), [&] { return look_at(opened->opened()); });
      text = opened->opened().path().string(); // as it is given: all ranks name it alike
    }
  });
  if (c.size() == 1) what.by = way::whole, what.because = {}; // the one rank has all rows
  const way by = tell(c, 0, what.by);
  text = tell(c, 0, std::move(text));
  if (by == way::generator) return make_part(c, text);
  if (by == way::whole) {
    part_of_problem p = load_whole(c, opened, text);
    p.first_because = tell(c, 0, std::move(what.because));
    return p;
  }
  const opened_file file = open_on_all(c, text, opened);
  if (!file.because.empty()) {
    part_of_problem p = load_whole(c, opened, text);
    p.first_because = file.because;
    return p;
  }
  const io::head_lines lines = tell(c, 0, what.lines);
  return by == way::cache ? load_cache_part(c, file.from->opened()) : load_text(c, *file.from, lines);
}

} // namespace

part_of_problem scatter_whole(communicator& c, coo<double> a) {
  part_of_problem p;
  if (c.rank() == 0) p.begins = cut_by_entries(as_cview(a.row), a.shape.rows, c.size());
  p.a = scatter_rows(c, std::move(a), p.begins);
  return p;
}

part_of_problem load_on_ranks(communicator& c, std::string_view file_or_spec, const source* opened) {
  return as_one(c, [&] {
    part_of_problem p = load(c, file_or_spec, opened);
    for (const index_t n : gather_each(c, p.a.nnz())) p.entries += n;
    p.name = tell(c, 0, std::move(p.name)), p.origin = tell(c, 0, std::move(p.origin));
    return p;
  });
}

double estimate_load_on_ranks(const source* from, const matrix_header& head, double share) {
  const double stored = double(head.stored), final = (io::is_mirrored(head) ? 2 : 1) * stored;
  if (!from) return share * 16 * stored;
  io::input& in = from->opened();
  const io::content what = io::recognise(in);
  using kind = enum io::content::kind;
  if (what.kind == kind::cache) return share * 17 * stored;
  const bool in_parts = in.is_file() && what.packed == io::packing::none && what.kind == kind::text &&
                        head.layout == matrix_header::layout::coordinate;
  if (in_parts) return share * std::max(16 * stored + 16 * final, 24 * final);
  return std::max(estimate_read_memory(*from, head), (1 + share) * 16 * final); // there, and sent
}

coo<double> gather_on_first(communicator& c, const coo<double>& rows) {
  return as_one(c, [&] {
    index_t entries = 0;
    for (const index_t n : gather_each(c, rows.nnz())) entries += n;
    check_memory_of_machine(c, c.rank() == 0 ? 16.0 * double(entries) : 0);
    return gather_rows(c, rows);
  });
}

host_array<double> gather_on_first(communicator& c, cview<double> mine) {
  return as_one(c, [&] {
    const std::vector<index_t> begins = begins_of_parts(c, mine.size);
    host_array<double> all;
    if (c.rank() == 0) all = host_array<double>(begins.back());
    gather(c, mine, as_view(all), begins);
    return all;
  });
}

} // namespace furrow
