// SPDX-License-Identifier: BSD-3-Clause
#include "column_lu.hpp"
#include "dense_lu.hpp"
#include "factors.hpp"

#include "backends/cpu/isa.hpp"
#include "preconditioners/stop.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace furrow::lu {
namespace {

constexpr std::int32_t nothing = -1;

/// So many columns one behind the other that fill three quarters of the rows that are left: all that follow fill in, as
/// they need not where half is full (sherman5, whose factors would hold 1.3 times as many numbers). Dense
/// products take them at 20 to 40e9 operations a second and core, columns by themselves at 1 to 2e9.
constexpr std::int32_t columns_in_a_row = 16;
/// Of fewer rows a panel saves nothing worth its code.
constexpr std::int32_t least_rows = 128;

} // namespace

class column_elimination {
public:
  column_elimination(column_lu& f, const columns& a, const elimination_rules& rules, growth_budget& budget)
      : f_(f), a_(a), rules_(rules), neighbours_(budget, a.n), x_(at(a.n), 0.0), below_(at(a.n)),
        seen_row_(at(a.n), nothing), pattern_(at(a.n)), path_(at(a.n)), next_(at(a.n)), found_(at(a.n)),
        supernode_of_(at(a.n), nothing), ways_(at(a.n)), nodes_(at(a.n)) {}

  void run(const host_array<std::int32_t>& column_place) {
    const auto n = static_cast<std::int32_t>(a_.n);
    std::vector<std::int32_t> column_at(at(n));
    for (std::int32_t c = 0; c < n; ++c) column_at[at(column_place[c])] = c;
    for (std::int32_t j = 0, filled = 0; j < n; ++j) {
      stops_set_up::at_row(j);
      cpu::widest([&]() FURROW_INLINE { column(j, column_at[at(j)]); });
      if (f_.operations_ > rules_.operations) refuse_operations(rules_.operations);
      filled = 4 * count_ >= 3 * (n - j) ? filled + 1 : 0;
      if (filled >= columns_in_a_row && fits_densely(n - j - 1)) {
        factor_densely(j + 1, column_at);
        break;
      }
    }
    close();
    f_.first_column_.push_back(n);
    f_.rows_from_.push_back(static_cast<std::int32_t>(f_.rows_.size()));
    f_.u_from_.push_back(static_cast<std::int32_t>(f_.u_.size()));
    for (index_t i = 0; i < f_.rows_.size(); ++i) f_.rows_[i] = f_.place_[f_.rows_[i]];
  }

private:
  /// A supernode while columns are made: its first `width` rows are those of its pivots.
  struct node {
    std::int32_t first, width = 0, height, rows, values;
    bool pruned = false;
  };
  /// What the search reads of a supernode.
  struct way {
    std::int32_t seen = nothing, from = 0; ///< the column that met it last, and its first pivot that it met
    std::int32_t next = 0, end = 0;        ///< rows that lead on from here
  };

  FURROW_INLINE void column(std::int32_t j, std::int32_t c) {
    work_out(j, c);
    const bool joins = joins_open(j);
    if (!joins) open(j);
    f_.u_from_.push_back(static_cast<std::int32_t>(f_.u_.size()));
    for (index_t k = found_count_; k-- > 0;)
      if (const std::int32_t s = found_[at(k)]; s != count_nodes_ - 1) keep_in_u(nodes_[at(s)], ways_[at(s)].from);
    choose_pivot(nodes_[at(count_nodes_ - 1)], j, c);
    prune();
  }

  /// x = column c of A less what the columns of L before it take from it.
  FURROW_INLINE void work_out(std::int32_t j, std::int32_t c) {
    count_ = found_count_ = 0;
    for (std::int32_t k = a_.begin[c]; k < a_.begin[c + 1]; ++k) search(a_.row[k], j);
    for (std::int32_t k = a_.begin[c]; k < a_.begin[c + 1]; ++k) x_[at(a_.row[k])] = a_.val[k];
    for (index_t k = found_count_; k-- > 0;) subtract(nodes_[at(found_[at(k)])], ways_[at(found_[at(k)])].from);
  }

  /// Whether the square of the last so many rows is worth a dense panel, which offsets can count and the budget has.
  bool fits_densely(index_t rows) const {
    return rows >= least_rows && f_.values_.size() + rows * rows <= std::numeric_limits<std::int32_t>::max() &&
           f_.values_.may_add(rows * rows);
  }

  /// The columns from j on: what the others leave of them makes one dense panel, a supernode of all rows without a
  /// pivot.
  void factor_densely(std::int32_t first, const std::vector<std::int32_t>& column_at) {
    close();
    const auto n = static_cast<std::int32_t>(a_.n), m = n - first;
    f_.operations_ += 2.0 / 3 * double(m) * double(m) * double(m);
    if (f_.operations_ > rules_.operations) refuse_operations(rules_.operations);
    nodes_[at(count_nodes_)] = {.first = first,
                                .width = m,
                                .height = m,
                                .rows = static_cast<std::int32_t>(f_.rows_.size()),
                                .values = static_cast<std::int32_t>(f_.values_.size())};
    ways_[at(count_nodes_++)].next = static_cast<std::int32_t>(neighbours_.size());
    f_.first_column_.push_back(first);
    std::int32_t* const rows = f_.rows_.add(m);
    for (std::int32_t i = 0, k = 0; i < n; ++i)
      if (f_.place_[i] < 0) rows[k++] = i;
    double* const panel = f_.values_.add(index_t(m) * m);
    for (std::int32_t j = first; j < n; ++j) {
      stops_set_up::at_row(j);
      cpu::widest([&]() FURROW_INLINE {
        work_out(j, column_at[at(j)]);
        f_.u_from_.push_back(static_cast<std::int32_t>(f_.u_.size()));
        for (index_t k = found_count_; k-- > 0;) keep_in_u(nodes_[at(found_[at(k)])], ways_[at(found_[at(k)])].from);
        double* const to = panel + index_t(j - first) * m;
        for (std::int32_t i = 0; i < m; ++i) to[i] = std::exchange(x_[at(rows[i])], 0.0);
      });
      if (f_.operations_ > rules_.operations) refuse_operations(rules_.operations);
    }
    std::vector<int> pivots(at(m));
    const index_t without = factor_dense_panel({panel, m}, m, m, pivots.data());
    if (without >= 0) refuse_singular(column_at[at(first + without)]);
    for (std::int32_t t = 0; t < m; ++t) {
      std::swap(rows[t], rows[pivots[at(t)] - 1]);
      f_.place_[rows[t]] = first + t;
    }
  }

  /// Files what an entry in that row leads to: rows without a pivot in `pattern_`, supernodes in `found_`, each behind
  /// all those that it changes.
  FURROW_INLINE void search(std::int32_t row, std::int32_t j) {
    std::int32_t s = meets(row, j, nothing);
    if (s < 0) return;
    index_t depth = 0;
    std::int32_t k = ways_[at(s)].next;
    while (true) {
      const std::int32_t end = ways_[at(s)].end;
      std::int32_t met = nothing;
      while (k < end && met < 0) met = meets(neighbours_[k++], j, s);
      if (met >= 0) {
        path_[at(depth)] = s, next_[at(depth++)] = k;
        s = met, k = ways_[at(s)].next;
      } else {
        found_[at(found_count_++)] = s;
        if (depth-- == 0) return;
        s = path_[at(depth)], k = next_[at(depth)];
      }
    }
  }
  /// The supernode that this row leads to, where it was not met before.
  FURROW_INLINE std::int32_t meets(std::int32_t row, std::int32_t j, std::int32_t from) {
    const std::int32_t s = supernode_of_[at(row)];
    if (s < 0) {
      if (seen_row_[at(row)] == j) return nothing;
      seen_row_[at(row)] = j;
      pattern_[at(count_++)] = row;
      return nothing;
    }
    way& w = ways_[at(s)];
    const std::int32_t p = f_.place_[row];
    if (w.seen == j) {
      if (p < w.from && s != from) w.from = p;
      return nothing;
    }
    w.seen = j, w.from = p;
    return s;
  }

  /// Takes from x what the columns of s leave there.
  FURROW_INLINE void subtract(const node& s, std::int32_t first) {
    const std::int32_t* const rows = f_.rows_.data() + s.rows;
    const index_t h = s.height, w = s.width, from = first - s.first, under = h - w;
    const double* const panel = f_.values_.data() + s.values;
    const std::int32_t* const to = rows + w;
    double* const x = x_.data();
    const index_t columns = w - from;
    f_.operations_ += double(columns) * double(columns - 1 + 2 * under);
    if (columns == 1) {
      const double v = x[rows[from]];
      const double* const l = panel + from * h + w;
      for (index_t i = 0; i < under; ++i) x[to[i]] -= v * l[i];
      return;
    }
    if (columns == 2) {
      const double* const l = panel + from * h;
      const double v = x[rows[from]], u = x[rows[from + 1]] -= v * l[from + 1];
      const double *const one = l + w, *const other = one + h;
      for (index_t i = 0; i < under; ++i) x[to[i]] -= v * one[i] + u * other[i];
      return;
    }
    double *const u = u_.data(), *const below = below_.data();
    for (index_t t = from; t < w; ++t) u[t] = x[rows[t]];
    for (index_t t = from; t < w; ++t) {
      const double v = u[t];
      const double* const l = panel + t * h;
      for (index_t i = t + 1; i < w; ++i) u[i] -= v * l[i];
    }
    for (index_t t = from; t < w; ++t) x[rows[t]] = u[t];
    for (index_t i = 0; i < under; ++i) below[i] = 0;
    index_t t = from;
    for (; t + 4 <= w; t += 4) {
      const double *const a = panel + t * h + w, *const b = a + h, *const c = b + h, *const d = c + h;
      const double p = u[t], q = u[t + 1], r = u[t + 2], v = u[t + 3];
      for (index_t i = 0; i < under; ++i) below[i] += (p * a[i] + q * b[i]) + (r * c[i] + v * d[i]);
    }
    for (; t < w; ++t) {
      const double* const a = panel + t * h + w;
      const double p = u[t];
      for (index_t i = 0; i < under; ++i) below[i] += p * a[i];
    }
    for (index_t i = 0; i < under; ++i) x[to[i]] -= below[i];
  }

  /// Whether the rows of column j are those that the supernode of the column before still has without a pivot.
  bool joins_open(std::int32_t j) const {
    if (j == 0) return false;
    const node& s = nodes_[at(count_nodes_ - 1)];
    return ways_[at(count_nodes_ - 1)].seen == j && s.height - s.width == count_;
  }

  void open(std::int32_t j) {
    close();
    node& s = nodes_[at(count_nodes_++)];
    s = {.first = j,
         .height = static_cast<std::int32_t>(count_),
         .rows = static_cast<std::int32_t>(f_.rows_.size()),
         .values = static_cast<std::int32_t>(f_.values_.size())};
    way& w = ways_[at(count_nodes_ - 1)];
    w.next = static_cast<std::int32_t>(neighbours_.size());
    w.end = w.next + s.height;
    std::copy_n(pattern_.data(), count_, f_.rows_.add(count_));
    std::copy_n(pattern_.data(), count_, neighbours_.add(count_));
    f_.first_column_.push_back(j);
  }
  /// The last supernode is whole.
  void close() {
    if (count_nodes_ == 0) return;
    const node& s = nodes_[at(count_nodes_ - 1)];
    for (std::int32_t t = 0; t < s.width; ++t) {
      f_.rows_from_.push_back(t == 0 ? s.rows : s.rows + s.height);
      f_.values_from_.push_back(s.values + t * s.height);
    }
    way& w = ways_[at(count_nodes_ - 1)]; // its own rows lead nowhere
    std::copy_n(f_.rows_.data() + s.rows + s.width, s.height - s.width, neighbours_.data() + w.next);
    w.end = w.next + s.height - s.width;
  }

  FURROW_INLINE void keep_in_u(const node& s, std::int32_t first) {
    const index_t from = first - s.first, count = s.width - from;
    const std::int32_t* const rows = f_.rows_.data() + s.rows + from;
    std::int32_t* const row = f_.u_row_.add(count);
    double* const value = f_.u_.add(count);
    for (index_t t = 0; t < count; ++t) {
      row[t] = first + static_cast<std::int32_t>(t);
      value[t] = std::exchange(x_[at(rows[t])], 0.0);
    }
  }

  /// Moves x to the next column of s, whose largest number below the other pivots is the pivot.
  FURROW_INLINE void choose_pivot(node& s, std::int32_t j, std::int32_t c) {
    double* const value = f_.values_.add(s.height);
    std::int32_t* const rows = f_.rows_.data() + s.rows;
    const index_t h = s.height, w = s.width;
    for (index_t i = 0; i < h; ++i) value[i] = std::exchange(x_[at(rows[i])], 0.0);
    double most = 0;
    for (index_t i = w; i < h; ++i) most = std::abs(value[i]) > most ? std::abs(value[i]) : most;
    if (most == 0) refuse_singular(c);
    index_t pivot = w;
    while (std::abs(value[pivot]) != most) ++pivot;
    if (f_.place_[c] < 0 && seen_row_[at(c)] == j) {
      const index_t diagonal = std::find(rows + w, rows + h, c) - rows;
      if (std::abs(value[diagonal]) >= rules_.threshold * most) pivot = diagonal;
    }
    f_.place_[rows[pivot]] = j;
    supernode_of_[at(rows[pivot])] = count_nodes_ - 1;
    if (pivot != w) {
      std::swap(rows[pivot], rows[w]);
      double* column = f_.values_.data() + s.values;
      for (index_t t = 0; t <= w; ++t, column += h) std::swap(column[pivot], column[w]);
    }
    const double by = value[w];
    for (index_t i = w + 1; i < h; ++i) value[i] /= by;
    f_.operations_ += double(h - w - 1);
    ++s.width;
  }

  /// Where column j of U has entries of s, and the pivot's row is one of s, all later ways from s to rows without a
  /// pivot lead through column j.
  FURROW_INLINE void prune() {
    const std::int32_t open = count_nodes_ - 1;
    std::int32_t row = f_.rows_[nodes_[at(open)].rows + nodes_[at(open)].width - 1];
    for (index_t k = 0; k < found_count_; ++k) {
      node& s = nodes_[at(found_[at(k)])];
      if (s.pruned || &s == &nodes_[at(open)]) continue;
      way& w = ways_[at(found_[at(k)])];
      std::int32_t *const first = neighbours_.data() + w.next, *const last = neighbours_.data() + w.end;
      if (std::find(first, last, row) == last) continue;
      const auto* const kept = std::partition(first, last, [&](std::int32_t r) { return f_.place_[r] >= 0; });
      w.end = static_cast<std::int32_t>(kept - neighbours_.data());
      s.pruned = true;
    }
  }

  column_lu& f_;
  const columns& a_;
  const elimination_rules& rules_;
  growing<std::int32_t> neighbours_;
  std::vector<double> x_, below_, u_ = std::vector<double>(x_.size());
  std::vector<std::int32_t> seen_row_, pattern_, path_, next_, found_, supernode_of_;
  std::vector<way> ways_;
  std::vector<node> nodes_;
  index_t count_ = 0, found_count_ = 0;
  std::int32_t count_nodes_ = 0;
};

/// Each of L and U as they are most often; more is taken when it must be.
static index_t expected_in_u(const columns& a, const elimination_rules& rules) {
  return static_cast<index_t>(std::min(rules.expected_entries * 0.6, 16 * double(a.nnz())));
}

column_lu::column_lu(const columns& a, const host_array<std::int32_t>& column_place, const elimination_rules& rules,
                     growth_budget& budget)
    : place_(a.n, nothing), rows_(budget, a.nnz()), u_row_(budget, expected_in_u(a, rules)),
      values_(budget, expected_in_u(a, rules)), u_(budget, expected_in_u(a, rules)) {
  budget.take(120 * double(a.n));
  column_elimination(*this, a, rules, budget).run(column_place);
}

supernodal column_lu::factors() const {
  return {place_.size(),        static_cast<index_t>(first_column_.size()) - 1,
          first_column_.data(), rows_from_.data(),
          rows_.data(),         values_from_.data(),
          values_.data(),       u_from_.data(),
          u_row_.data(),        u_.data()};
}

double column_lu::entries() const { return double(values_.size()) + double(u_.size()); }

double column_lu::bytes() const {
  return 8.0 * double(values_.size() + u_.size()) + 4.0 * double(rows_.size() + u_row_.size());
}

} // namespace furrow::lu
