// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrices.hpp"
#include "said_by.hpp"
#include "solve_check.hpp"

#include <furrow/ranks.hpp>

#include <cstring>
#include <utility>
#include <vector>

namespace furrow::kit {

/// Numbers of ranks that tests run: one, even, odd, and more than some matrices have rows.
inline constexpr int numbers_of_ranks[] = {1, 2, 3, 4, 7};

template <class V> struct solved_on_ranks {
  ranks_report on;
  host_array<V> x;

  const solve_report& report() const { return on.report; }
};

/// Solves on threads as ranks with these devices, of which the first has the system, and holds the report to the truth:
/// the residual that it names is the one that x has, and all ranks got the same.
template <class V>
solved_on_ranks<V> solve_on_ranks(const std::vector<device>& on, const coo<double>& matrix, const host_array<V>& b,
                                  const solve_options& options = {}, host_array<V> x = {}) {
  const std::size_t ranks = on.size();
  const coo<V> a = as_precision<V>(matrix);
  if (x.empty()) x = host_array<V>(b.size(), V(0));
  solved_on_ranks<V> result{{}, std::move(x)};
  std::vector<solve_report> said(ranks);
  run_ranks(on, [&](communicator& c) {
    const bool first = c.rank() == 0;
    ranks_report mine = first ? solve_from_first<V>(c, a, as_cview(b), as_view(result.x), options)
                              : solve_from_first<V>(c, {}, {}, {}, {});
    said[static_cast<std::size_t>(c.rank())] = mine.report;
    if (first) result.on = std::move(mine);
  });
  for (const solve_report& r : said) {
    EXPECT_EQ(r.message, result.report().message);
    EXPECT_EQ(r.iterations, result.report().iterations);
    EXPECT_EQ(r.why, result.report().why);
    EXPECT_EQ(r.history, result.report().history);
  }
  index_t rows = 0, entries = 0;
  for (const rank_part& p : result.on.parts) {
    EXPECT_EQ(p.first, rows);
    rows += p.rows, entries += p.entries;
  }
  EXPECT_EQ(result.on.parts.size(), ranks);
  EXPECT_EQ(rows, matrix.shape.rows);
  EXPECT_EQ(entries, matrix.nnz());
  const residual truth = true_residual(a, as_cview(b), as_cview(result.x));
  if (result.report().why == status::converged) {
    const long double goal = std::max<long double>(options.rtol * truth.norm_b, options.atol);
    EXPECT_LE(truth.norm, goal * (1 + 1e-6L) + truth.rounding) << result.report().message;
  }
  if (std::isfinite(result.report().relative_residual) && truth.norm_b > 0 && std::isfinite(truth.norm)) {
    EXPECT_NEAR(result.report().relative_residual, static_cast<double>(truth.norm / truth.norm_b),
                static_cast<double>((truth.rounding + 1e-6L * truth.norm) / truth.norm_b))
        << result.report().message;
  }
  return result;
}

/// The same on processors.
template <class V>
solved_on_ranks<V> solve_on_ranks(int ranks, const coo<double>& matrix, const host_array<V>& b,
                                  const solve_options& options = {}, host_array<V> x = {}) {
  return solve_on_ranks<V>(std::vector<device>(static_cast<std::size_t>(ranks)), matrix, b, options, std::move(x));
}

template <class V> bool same_bits(const host_array<V>& a, const host_array<V>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), sizeof(V) * static_cast<std::size_t>(a.size())) == 0);
}

/// The sentence of the `error` that all ranks end with; empty: none was thrown.
template <class F> std::string sentence_of_ranks(int ranks, F f) {
  return kit::said_by([&] { run_ranks(ranks, f); });
}

} // namespace furrow::kit
