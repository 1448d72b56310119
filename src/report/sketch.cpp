// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/report.hpp>
#include <furrow/stats.hpp>

#include "row_lengths.hpp"

#include "core/transpose_comparison.hpp"
#include "core/units.hpp"
#include "picture/spy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow {
namespace {

std::string symmetry_of(const transpose_comparison& m, shape2 shape) {
  if (shape.rows != shape.cols) return "none: the matrix is rectangular";
  if (m.symmetric) return "symmetric";
  if (m.skew) return "skew-symmetric";
  return m.pattern ? "structurally symmetric, values differ" : "none";
}

/// A picture of few letters: cells of an irregular matrix take more of them, and are larger then.
std::string picture_of(const coo<double>& a) {
  constexpr std::size_t most_letters = 40000;
  constexpr index_t fine = 128, coarse = 64;
  constexpr double side = 384; // its letters are read on a telephone
  std::string drawn = picture::spy(a, "the matrix", fine, side);
  return drawn.size() > most_letters ? picture::spy(a, "the matrix", coarse, side) : drawn;
}

/// None for a device of another machine, on which the system was solved.
std::vector<candidate> candidates_of(const stats& s, const solve_options& options) {
  try {
    return shortlist(s, options.values, options.where);
  } catch (const error& e) {
    if (e.kind != fault::device) throw;
    return {};
  }
}

/// The candidates of "auto", of each format the first.
std::vector<expected_product> expected_of(const stats& s, const solve_options& options) {
  std::vector<expected_product> products;
  if (s.nnz == 0) return products;
  for (const candidate& c : candidates_of(s, options))
    if (const std::string name = name_of(c.what);
        std::ranges::find(products, name, &expected_product::format) == products.end())
      products.push_back({name, c.what.kernel, c.seconds});
  std::ranges::stable_sort(products, {}, &expected_product::seconds);
  return products;
}

} // namespace

matrix_sketch sketch(const coo<double>& a, const solve_options& options) {
  const stats s = measure(a);
  const auto count = [](index_t n) { return count_text(n); };
  matrix_sketch k{s.shape, s.nnz, {}, picture_of(a), {}, expected_of(s, options)};
  k.row_lengths = report::draw_row_lengths(report::row_lengths(a, s.row_min, s.row_max));
  k.facts = {
      {"size", fmt::format("{} × {}", count(s.shape.rows), count(s.shape.cols))},
      {"entries", count(s.nnz) + (s.explicit_zeros ? fmt::format(", {} of them zero", count(s.explicit_zeros)) : "")},
      {"symmetry", symmetry_of(compare_with_transpose(a), s.shape)},
      {"rows", s.row_min == s.row_max
                   ? fmt::format("{} {} each", count(s.row_min), s.row_min == 1 ? "entry" : "entries")
                   : fmt::format("{} to {} entries, {:.4g} on average{}", count(s.row_min), count(s.row_max),
                                 s.row_mean, s.empty_rows ? fmt::format(", {} empty", count(s.empty_rows)) : "")},
      {"bandwidth",
       fmt::format("{} below and {} above the diagonal", count(s.lower_bandwidth), count(s.upper_bandwidth))},
      {"diagonals", fmt::format("{} with entries", count(s.diagonals))},
      {"diagonal", s.zero_diagonal ? fmt::format("{} zero or missing entries", count(s.zero_diagonal))
                                   : std::string("no zero entry")},
  };
  k.facts.emplace_back("values", s.finite ? fmt::format("largest {:.6g}, largest row sum {:.6g}", s.largest, s.norm_inf)
                                          : std::string("some are not finite"));
  return k;
}

} // namespace furrow
