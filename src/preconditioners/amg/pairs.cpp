// SPDX-License-Identifier: BSD-3-Clause
#include "pairs.hpp"

#include "backends/cpu/parallel.hpp"
#include "generate/randomness.hpp"
#include "matrix/row_accumulator.hpp"

#include <algorithm>
#include <utility>

namespace furrow::amg {
namespace {

constexpr index_t paired_at_once = 1 << 11;
constexpr double entries_of_pairs = 1 << 14;
constexpr int rounds = 4;

template <class F> void each(index_t n, F f) {
  cpu::for_each_range(n, paired_at_once, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) f(i);
  });
}

/// Which of the couplings of a row is the heaviest.
class heaviest_coupling {
public:
  explicit heaviest_coupling(row_view<double> a) : a_(a), inverse_(a.shape.rows), hash_(a.shape.rows) {
    const randomness random(0);
    each(a.shape.rows, [&](index_t i) {
      hash_[i] = static_cast<std::uint32_t>(random.at(i) >> 32);
      inverse_[i] = 0;
      for (index_t k = a.begin(i); k < a.end(i); ++k)
        if (a.col[k] == i && a.val[k] > 0) inverse_[i] = 1 / a.val[k];
    });
  }

  /// Of those for which may(j), or -1.
  template <class May> std::int32_t of(index_t i, May may) const {
    std::int32_t best = -1;
    double most = 0;
    for (index_t k = a_.begin(i); k < a_.end(i); ++k) {
      const std::int32_t j = a_.col[k];
      const double weight = -a_.val[k] * std::min(inverse_[i], inverse_[j]);
      if (!(weight >= most) || weight == 0 || j == i || !may(j)) continue;
      if (weight == most && hash(i, j) <= hash(i, best)) continue;
      most = weight, best = j;
    }
    return best;
  }

private:
  /// Of the pair, whichever row asks.
  std::uint32_t hash(index_t i, index_t j) const { return hash_[i] ^ hash_[j]; }

  row_view<double> a_;
  host_array<double> inverse_; ///< of the diagonal entries
  host_array<std::uint32_t> hash_;
};

} // namespace

aggregates pairs_of(row_view<double> a, alone rows_alone) {
  const index_t n = a.shape.rows;
  const heaviest_coupling heaviest(a);
  host_array<std::int32_t> other(n, -1), taken(n); // the row that one is paired with; that it would take
  const auto is_free = [&](std::int32_t j) { return other[j] < 0; };
  for (int round = 0; round < rounds; ++round) {
    each(n, [&](index_t i) { taken[i] = is_free(static_cast<std::int32_t>(i)) ? heaviest.of(i, is_free) : -1; });
    each(n, [&](index_t i) {
      if (taken[i] >= 0 && taken[taken[i]] == i) other[i] = taken[i];
    });
  }
  // The first row of each one's aggregate, or -1.
  each(n, [&](index_t i) {
    if (other[i] >= 0) taken[i] = std::min(static_cast<std::int32_t>(i), other[i]);
    else if (const std::int32_t j = heaviest.of(i, [&](std::int32_t k) { return !is_free(k); }); j >= 0)
      taken[i] = std::min(j, other[j]);
    else if (rows_alone == alone::kept || heaviest.of(i, [](std::int32_t) { return true; }) >= 0)
      taken[i] = static_cast<std::int32_t>(i);
    else taken[i] = -1;
  });
  aggregates g{host_array<std::int32_t>(n)};
  for (index_t i = 0; i < n; ++i) other[i] = taken[i] == i ? static_cast<std::int32_t>(g.count++) : -1;
  each(n, [&](index_t i) { g.of[i] = taken[i] < 0 ? -1 : other[taken[i]]; });
  return g;
}

row_matrix<double> summed(row_view<double> a, const aggregates& g) {
  const index_t n = a.shape.rows;
  host_array<index_t> first(g.count + 1, 0); // of the rows of an aggregate
  for (index_t i = 0; i < n; ++i)
    if (g.of[i] >= 0) ++first[g.of[i] + 1];
  for (index_t k = 0; k < g.count; ++k) first[k + 1] += first[k];
  host_array<std::int32_t> row(first[g.count]);
  host_array<index_t> next(g.count);
  std::copy_n(first.data(), g.count, next.data());
  for (index_t i = 0; i < n; ++i)
    if (g.of[i] >= 0) row[next[g.of[i]]++] = static_cast<std::int32_t>(i);
  const auto entries = [&](index_t k) {
    double sum = 1;
    for (index_t r = first[k]; r < first[k + 1]; ++r) sum += double(a.end(row[r]) - a.begin(row[r]));
    return sum;
  };
  const auto column = [&](index_t e) { // what leads to no aggregate goes to a column behind the others
    const std::int32_t j = g.of[a.col[e]];
    return j >= 0 ? j : static_cast<std::int32_t>(g.count);
  };
  const auto cuts = cut_by_weight(g.count, work_of_piece(double(a.nnz()), entries_of_pairs), entries);
  std::vector<row_batch<double>> pieces(cuts.size() - 1);
  pool<row_accumulator> rows;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t piece) {
    auto sum = rows.take([&] { return std::make_unique<row_accumulator>(g.count + 1); });
    for (index_t k = cuts[piece]; k < cuts[piece + 1]; ++k) {
      sum->open();
      for (index_t r = first[k]; r < first[k + 1]; ++r)
        sum->add(
            1, a.end(row[r]) - a.begin(row[r]), [&, begin = a.begin(row[r])](index_t e) { return column(begin + e); },
            [&, begin = a.begin(row[r])](index_t e) { return a.val[begin + e]; });
      sum->sort();
      const index_t count = sum->size() - (sum->size() > 0 && sum->col(sum->size() - 1) == g.count);
      std::copy_n(sum->cols(), count, pieces[piece].col.more(count));
      std::copy_n(sum->sums(), count, pieces[piece].val.more(count));
      *pieces[piece].length.more(1) = static_cast<std::int32_t>(count);
    }
    rows.put(std::move(sum));
  });
  return stacked<double>({g.count, g.count}, std::move(pieces));
}

paired three_times_pairs(row_view<double> a) {
  paired p{pairs_of(a, alone::left_out), {}};
  p.coarse = summed(a, p.of_rows);
  for (int again = 0; again < 2; ++again) {
    const aggregates next = pairs_of(p.coarse.view(), alone::kept);
    each(a.shape.rows, [&](index_t i) {
      if (p.of_rows.of[i] >= 0) p.of_rows.of[i] = next.of[p.of_rows.of[i]];
    });
    p.of_rows.count = next.count;
    p.coarse = summed(p.coarse.view(), next);
  }
  return p;
}

} // namespace furrow::amg
