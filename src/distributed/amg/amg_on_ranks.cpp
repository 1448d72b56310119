// SPDX-License-Identifier: BSD-3-Clause
#include "amg_on_ranks.hpp"

#include "coarsening.hpp"
#include "level.hpp"
#include "spectrum.hpp"
#include "way_down.hpp"

#include "core/clock.hpp"
#include "distributed/together.hpp"
#include "preconditioners/amg/host_kit.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

using namespace amg;

template <class To, class From> host_array<To> values(const host_array<From>& from, double scale) {
  host_array<To> to(from.size());
  for (index_t k = 0; k < from.size(); ++k) to[k] = rounded<To>(double(from[k]), scale);
  return to;
}
template <class To, class From> coo<To> in_precision(coo<From>&& a, double scale) {
  auto val = values<To>(a.val, scale);
  return {a.shape, std::move(a.row), std::move(a.col), std::move(val)};
}

/// The same, without entries: what they were goes to another precision.
template <class W> rows_of_rank<W> in_precision(rows_of_rank<double>&& a, double scale) {
  rows_of_rank<W> b;
  b.begins = std::move(a.begins), b.first = a.first;
  b.own = in_precision<W>(std::move(a.own), scale), b.far = in_precision<W>(std::move(a.far), scale);
  b.far_rows = std::move(a.far_rows), b.plan = std::move(a.plan);
  b.unknowns = a.unknowns, b.longest_row = a.longest_row;
  return b;
}

host_array<double> diagonal_of(const rows_of_rank<double>& a) {
  host_array<double> d(a.own.shape.rows, 0.0);
  for (index_t k = 0; k < a.own.nnz(); ++k)
    if (a.own.row[k] == a.own.col[k]) d[a.own.row[k]] = a.own.val[k];
  return d;
}

diagonal_extremes extremes_of(const host_array<double>& d) {
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const double v : d) least = std::min(least, std::isnan(v) ? 0 : v), largest = std::max(largest, v);
  return {least, largest};
}

/// See way_down.
class kit_on_processors {
public:
  kit_on_processors(communicator& c, const rows_of_rank<double>& a) : c_(c), a_(a), diagonal_(diagonal_of(a)) {}

  index_t unknowns() const { return a_.unknowns; }
  index_t entries() const { return a_.own.nnz() + a_.far.nnz(); }
  diagonal_extremes extremes() const { return extremes_of(diagonal_); }
  double look() {
    inverse = host_array<double>(diagonal_.size());
    for (index_t i = 0; i < inverse.size(); ++i) inverse[i] = 1 / diagonal_[i];
    return largest_eigenvalue_on_ranks(c_, a_, inverse);
  }
  bool coarsen(double theta, double omega, double most) {
    to = coarsen_on_ranks(c_, a_, inverse, theta, omega, most);
    return to.count > 0 && double(to.count) <= most;
  }
  index_t coarse_unknowns() const { return to.count; }
  index_t coarse_entries() const { return to.entries; }

  host_array<double> inverse;
  coarsened to;

private:
  communicator& c_;
  const rows_of_rank<double>& a_;
  host_array<double> diagonal_;
};

/// The matrix of all levels from here on, and all ranks' parts of it.
struct last_level {
  std::unique_ptr<any_preconditioner<double>> m; ///< null: the level before is only smoothed
  std::vector<index_t> begins;
};

/// M on a rank, in the precision W.
template <class V, class W> class multigrid_on_ranks final : public any_preconditioner<V> {
public:
  multigrid_on_ranks(communicator& c, rows_of_rank<double> a, int degree, index_t gathered) : c_(c), degree_(degree) {
    while (a.unknowns > gathered && take_level(a)) {
    }
    if (ends_smoothed_) return;
    const double began = now();
    last_.begins = a.begins;
    coo<double> mine = with_global_columns(to_triplets(joined(a)), a.first, as_cview(a.plan.columns), a.unknowns);
    const coo<double> whole = gather_rows(c_, mine, a.begins);
    together(c_, [&] {
      last_.m = make_preconditioner<double>(name_of_gathered(degree_), whole, device{},
                                            {.a = {true, true}, .m = {true, true}});
    });
    mine_ = host_array<double>(most_rows());
    parts_ = host_array<double>(most_rows() * c_.size());
    b_ = host_array<double>(whole.shape.rows), x_ = host_array<double>(whole.shape.rows);
    for (const multigrid_level& l : last_.m->levels()) facts_.push_back(l);
    if (facts_.size() > levels_.size()) facts_[levels_.size()].seconds = c_.max(now() - began);
  }

  void apply(cview<V> r, view<V> z) const override {
    if (levels_.empty()) return solve_gathered(r, z);
    const double scale = scale_of(r);
    const view<W> b = levels_[0]->b();
    for (index_t i = 0; i < r.size; ++i) b[i] = static_cast<W>(double(r[i]) * scale);
    visit(0);
    const cview<W> x = levels_[0]->x();
    const double back = scale_ / scale; // both powers of two
    for (index_t i = 0; i < z.size; ++i) z[i] = static_cast<V>(double(x[i]) * back);
  }
  double stored_bytes() const override {
    double bytes = last_.m ? last_.m->stored_bytes() : 0;
    for (const auto& l : levels_) bytes += l->stored_bytes();
    return bytes;
  }
  std::string describe() const override {
    return sentence_of_ranks(
        facts_, {degree_, c_.size(), levels_.size(), 8 * sizeof(W), ends_smoothed_ ? 0 : last_.begins.back()});
  }
  std::vector<multigrid_level> levels() const override { return facts_; }

private:
  /// Makes a level of a, which becomes the matrix of the next one; false where there is none.
  bool take_level(rows_of_rank<double>& a) {
    const double began = now();
    kit_on_processors kit(c_, a);
    const level_outlook l = way_down(c_, kit, levels_.size());
    if (levels_.empty()) scale_ = l.diagonal.scale();
    coarsened& to = kit.to;
    if (!l.shrinks) to.p = {}, to.r = {}, to.plan = {};
    together(c_, [&] {
      levels_.push_back(std::make_unique<level_on_ranks<W>>(
          c_, in_precision<W>(std::move(a), scale_), kept<W>(std::move(to.p)), kept<W>(std::move(to.r)),
          std::move(to.plan), values<W>(kit.inverse, 1 / scale_), l.lambda));
    });
    if (l.shrinks) a = take_apart_rows(c_, std::move(to.rows));
    else ends_smoothed_ = true;
    facts_.push_back({l.unknowns, l.entries, c_.sum(levels_.back()->stored_bytes()), c_.max(now() - began)});
    return l.shrinks;
  }

  void visit(std::size_t k) const {
    level_on_ranks<W>& l = *levels_[k];
    if (k + 1 == levels_.size() && ends_smoothed_) return l.smooth_from_zero(most_degree);
    l.smooth_from_zero(degree_);
    if (k + 1 < levels_.size()) {
      l.restrict_to(levels_[k + 1]->b());
      visit(k + 1);
      l.add_prolonged(levels_[k + 1]->x());
    } else {
      const auto me = static_cast<std::size_t>(c_.rank());
      host_array<W>& b = coarse_;
      b.resize(last_.begins[me + 1] - last_.begins[me]);
      l.restrict_to(as_view(b));
      solve_gathered(as_cview(b), as_view(b));
      l.add_prolonged(as_cview(b));
    }
    l.smooth(degree_);
  }

  index_t most_rows() const {
    index_t most = 0;
    for (std::size_t r = 0; r + 1 < last_.begins.size(); ++r)
      most = std::max(most, last_.begins[r + 1] - last_.begins[r]);
    return most;
  }
  /// On each rank from the b of all; its own part of x.
  template <class T> void solve_gathered(cview<T> b, view<T> x) const {
    std::copy(b.begin(), b.end(), mine_.begin());
    c_.gather_all(bytes_of(as_cview(mine_)), bytes_of(as_view(parts_)));
    for (std::size_t r = 0; r + 1 < last_.begins.size(); ++r)
      std::copy_n(parts_.data() + index_t(r) * mine_.size(), last_.begins[r + 1] - last_.begins[r],
                  b_.data() + last_.begins[r]);
    last_.m->apply(as_cview(b_), as_view(x_));
    const double* const own = x_.data() + last_.begins[static_cast<std::size_t>(c_.rank())];
    for (index_t i = 0; i < x.size; ++i) x[i] = static_cast<T>(own[i] / scale_); // levels before are of A times that
  }
  double scale_of(cview<V> r) const {
    if constexpr (sizeof(W) == 8) return 1;
    double largest = 0;
    for (const V v : r) largest = std::max(largest, std::abs(double(v)));
    largest = c_.max(largest);
    if (!(largest > 0) || !std::isfinite(largest)) return 1; // zeros stay zeros; NaN and infinity go through
    return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -500, 500));
  }

  communicator& c_;
  int degree_;
  double scale_ = 1; ///< a power of two: of A on the levels
  bool ends_smoothed_ = false;
  std::vector<std::unique_ptr<level_on_ranks<W>>> levels_;
  last_level last_;
  std::vector<multigrid_level> facts_;
  mutable host_array<double> mine_, parts_, b_, x_; ///< of the gathered level
  mutable host_array<W> coarse_;
};

} // namespace

template <class V>
std::unique_ptr<any_preconditioner<V>> amg_on_ranks(communicator& c, const coo<V>& rows, int degree, index_t gathered) {
  coo<double> wide;
  together(c, [&] {
    wide = {rows.shape, host_array<std::int32_t>(rows.row), host_array<std::int32_t>(rows.col),
            values<double>(rows.val, 1)};
  });
  rows_of_rank<double> a = take_apart_rows(c, std::move(wide));
  if (fits_single(over_ranks(c, extremes_of(diagonal_of(a)))))
    return std::make_unique<multigrid_on_ranks<V, float>>(c, std::move(a), degree, gathered);
  return std::make_unique<multigrid_on_ranks<V, double>>(c, std::move(a), degree, gathered);
}

template std::unique_ptr<any_preconditioner<double>> amg_on_ranks(communicator&, const coo<double>&, int, index_t);
template std::unique_ptr<any_preconditioner<float>> amg_on_ranks(communicator&, const coo<float>&, int, index_t);

} // namespace furrow
