// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "output.hpp"
#include "spy.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "core/printable.hpp"
#include "core/transpose_comparison.hpp"
#include "picture/spy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace furrow::cli::info_command {
namespace {

struct options {
  std::string file, svg;
  bool json = false, ascii = false, picture = true;
};

struct facts {
  problem p;
  stats s;
  transpose_comparison m;
};

std::string symmetry_text(const transpose_comparison& m, shape2 shape) {
  if (shape.rows != shape.cols) return "none: the matrix is rectangular";
  if (m.symmetric && m.skew) return "symmetric (and zero)";
  if (m.symmetric) return m.pattern ? "symmetric" : "symmetric (some zeros are entries on one side only)";
  if (m.skew) return "skew-symmetric";
  return m.pattern ? "structurally symmetric, values differ" : "none";
}

/// Rows by their length, in powers of two, as bars.
std::string histogram(const stats& s, bool ascii) {
  const index_t most = std::ranges::max(s.row_histogram);
  std::string text;
  const auto& h = s.row_histogram;
  const auto used = [&](std::size_t k) { return h[k] > 0; };
  std::size_t first = 0, last = h.size() - 1;
  while (first < last && !used(first)) ++first;
  while (last > first && !used(last)) --last;
  for (std::size_t k = first; k <= last && most > 0; ++k) {
    const index_t low = k == 0 ? 0 : index_t(1) << (k - 1), high = k == 0 ? 0 : (index_t(1) << k) - 1;
    const std::string range = low == high ? std::to_string(low) : fmt::format("{}-{}", low, high);
    const index_t width = h[k] ? std::max<index_t>(1, h[k] * 30 / most) : 0;
    std::string bar;
    for (index_t w = 0; w < width; ++w) bar += ascii ? "#" : "█";
    text += line(k == first ? "lengths" : "",
                 fmt::format("{:>11}  {}{}{}", range, bar, bar.empty() ? "" : " ", count_text(h[k])));
  }
  return text;
}

/// Padding of a format, or why it does not serve.
std::string fill_text(const layout& l, const stats& s) {
  if (!l.refusal.empty()) return "   refused: " + l.refusal;
  if (l.places <= double(s.nnz)) return {};
  return fmt::format("   {:.3g} places an entry", l.places / double(std::max<index_t>(s.nnz, 1)));
}

/// The block size with the fewest places an entry, K from 2 to 8.
std::string blocks_text(const stats& s) {
  double fewest = std::numeric_limits<double>::infinity();
  index_t best = 0;
  for (index_t k = 2; k <= 8; ++k) {
    const double fill = double(s.blocks[k]) * double(k * k) / double(std::max<index_t>(s.nnz, 1));
    if (s.blocks[k] < 0 || fill > fewest) continue; // of two alike, the larger
    best = k;
    fewest = fill;
  }
  if (s.nnz == 0) return "none";
  if (best == 0) return "none that pay: more than 1.75 places an entry for every size from 2 to 8";
  return fmt::format("{0} x {0} fit best: {1}, {2:.3g} places an entry", best, count_text(s.blocks[best]), fewest);
}

/// A largest number, which passes NaN over: not known where there may be one.
double known(const stats& s, double largest) {
  return s.finite || std::isinf(largest) ? largest : std::numeric_limits<double>::quiet_NaN();
}

std::string text_of(const options& o, const facts& f) {
  const stats& s = f.s;
  const bool ascii = o.ascii || !locale_is_utf8();
  std::string text = fmt::format("{}  {}\n\n", bold(printable(f.p.name)), printable(f.p.origin));
  const double places = double(s.shape.rows) * double(s.shape.cols);
  text += line("size", fmt::format("{} x {}", count_text(s.shape.rows), count_text(s.shape.cols)));
  text += line("entries",
               fmt::format("{}{}{}", count_text(s.nnz),
                           places > 0 ? fmt::format(", {:.3g} % of all places", 100 * double(s.nnz) / places) : "",
                           s.explicit_zeros ? fmt::format(", {} of them zero", count_text(s.explicit_zeros)) : ""));
  text += line("symmetry", symmetry_text(f.m, s.shape));
  text += line("rows", fmt::format("{} to {}, {:.4g} on average, deviation {:.3g}{}", count_text(s.row_min),
                                   counted_text(s.row_max, "entry"), s.row_mean, s.row_deviation,
                                   s.empty_rows ? fmt::format(", {} empty", count_text(s.empty_rows)) : ""));
  text += histogram(s, ascii);
  text += line("bandwidth", fmt::format("{} below and {} above the diagonal", count_text(s.lower_bandwidth),
                                        count_text(s.upper_bandwidth)));
  text += line("diagonals", fmt::format("{} with entries", count_text(s.diagonals)));
  text += line("blocks", blocks_text(s));
  text += line("diagonal", s.zero_diagonal ? fmt::format("{} zero or missing {}", count_text(s.zero_diagonal),
                                                         plural(s.zero_diagonal, "entry"))
                                           : std::string("no zero entry"));
  text += line("values", fmt::format("largest {:.6g}, largest row sum {:.6g}, {} distinct{}", known(s, s.largest),
                                     known(s, s.norm_inf),
                                     s.distinct_values > 256 ? "more than 256" : std::to_string(s.distinct_values),
                                     s.finite ? "" : ", some are not finite"));
  if (f.p.b) text += line("b", "came with the matrix");
  text += "\n" + line("memory", dim(fmt::format("{:<10} {:>10} {:>10}", "", "f64", "f32")));
  for (const auto* format : formats()) {
    const layout wide = format->lay_out(s, precision::f64, {}), narrow = format->lay_out(s, precision::f32, {});
    text += line("", fmt::format("{:<10} {:>10} {:>10}{}", format->name, bytes_text(wide.bytes),
                                 bytes_text(narrow.bytes), fill_text(wide, s)));
  }
  if (!o.svg.empty()) text += "\n" + line("picture", place_text(o.svg));
  if (o.picture) text += "\n" + spy(f.p.a, std::min(44, terminal_width() - 2), ascii);
  return text;
}

std::string json_of(const facts& f) {
  const stats& s = f.s;
  json j;
  j["name"] = f.p.name;
  j["origin"] = f.p.origin;
  j["rows"] = s.shape.rows;
  j["cols"] = s.shape.cols;
  j["nnz"] = s.nnz;
  j["explicit_zeros"] = s.explicit_zeros;
  j["symmetric"] = f.m.symmetric;
  j["structurally_symmetric"] = f.m.pattern;
  j["skew_symmetric"] = f.m.skew;
  j["row_length"] = {{"min", s.row_min}, {"max", s.row_max}, {"mean", s.row_mean}, {"deviation", s.row_deviation}};
  j["empty_rows"] = s.empty_rows;
  j["row_histogram"] = json::array();
  for (std::size_t k = 0; k < s.row_histogram.size(); ++k)
    if (s.row_histogram[k])
      j["row_histogram"].push_back({{"from", k ? index_t(1) << (k - 1) : 0},
                                    {"to", k ? (index_t(1) << k) - 1 : 0},
                                    {"rows", s.row_histogram[k]}});
  j["lower_bandwidth"] = s.lower_bandwidth;
  j["upper_bandwidth"] = s.upper_bandwidth;
  j["diagonals"] = s.diagonals;
  j["blocks"] = json::array(); // sizes that are not counted, because they cannot pay, are left out
  for (index_t k = 2; k <= 8; ++k)
    if (s.blocks[k] >= 0 && s.nnz)
      j["blocks"].push_back({{"edge", k},
                             {"count", s.blocks[k]},
                             {"places_per_entry", double(s.blocks[k]) * double(k * k) / double(s.nnz)}});
  j["zero_diagonal"] = s.zero_diagonal;
  j["largest"] = number(known(s, s.largest));
  j["norm_inf"] = number(known(s, s.norm_inf));
  j["finite"] = s.finite;
  j["distinct_values"] = s.distinct_values > 256 ? json() : json(s.distinct_values); // null: more than 256
  j["has_rhs"] = f.p.b.has_value();
  j["memory"] = json::array();
  for (const auto* format : formats()) {
    const layout wide = format->lay_out(s, precision::f64, {});
    json one{{"format", format->name},
             {"f64", wide.bytes},
             {"f32", format->lay_out(s, precision::f32, {}).bytes},
             {"places", wide.places}};
    if (!wide.refusal.empty()) one["refusal"] = wide.refusal;
    j["memory"].push_back(std::move(one));
  }
  return json_text(j);
}

int run(const options& o) {
  check(!o.json || (!o.ascii && o.picture), fault::usage, "--json draws nothing: leave {} out",
        o.ascii ? "--ascii" : "--no-picture");
  check_matrix(o.file);
  check_one_standard_output(o.json, {o.svg});
  check_output(o.svg, "--picture", {o.file});
  check_ending(o.svg, "--picture", "a picture", {".svg"});
  const matrix_input input(o.file);
  const matrix_header& head = input.header();
  memory_plan plan;
  plan.read = input.load_bytes();
  plan.work = 16 * double(expected_stats(head).nnz) + 16 * double(head.shape.rows); // two rows of offsets
  announce(plan, {});
  facts f{input.load(), {}, {}};
  f.s = measure(f.p.a);
  f.m = compare_with_transpose(f.p.a);
  if (!o.svg.empty()) write_file(o.svg, picture::spy(f.p.a, f.p.name));
  if (o.json) print(json_of(f));
  else print_beside({o.svg}, text_of(o, f));
  return done;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  add_matrix(app, shared, o->file);
  add_json(app, o->json);
  app.add_flag("--ascii", o->ascii, "draw with ASCII letters only");
  app.add_flag("!--no-picture", o->picture, "leave out the picture of the entries");
  add_file(app, shared, "--picture", o->svg, "draw the entries as SVG");
  app.footer("Examples:\n"
             "  furrow info matrix.mtx\n"
             "  furrow info stencil3d27:20 --ascii --picture entries.svg\n"
             "  furrow info matrix.tar.gz --json");
  return [o] { return run(*o); };
}

} // namespace

extern const subcommand entry{
    "info", "Look at a matrix: sizes, symmetry, rows, diagonals, memory in each format, and a picture.", setup};

} // namespace furrow::cli::info_command
