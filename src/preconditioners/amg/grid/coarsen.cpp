// SPDX-License-Identifier: BSD-3-Clause
#include "coarsen.hpp"

#include "backends/cpu/isa.hpp"
#include "box_matrix.hpp"

#include <algorithm>

namespace furrow::amg {
namespace {

constexpr index_t longest_strip = 1024;
/// Stands for a place that only its opposite has.
constexpr std::array<double, 2 * longest_strip + 4> strip_of_zeros{};

template <int Step> FURROW_INLINE inline void add(index_t count, const double* v, double* sum) {
#pragma omp simd
  for (index_t i = 0; i < count; ++i) sum[i] += v[Step * i];
}
/// The weights of a strip from its sums: one step back, in the plane, one step on.
FURROW_INLINE inline void weigh(index_t count, const double* back, const double* in, const double* on, double* lower,
                                double* upper) {
#pragma omp simd
  for (index_t i = 0; i < count; ++i) {
    const two_weights w = weights_of(back[i], in[i], on[i]);
    lower[i] = w.lower;
    upper[i] = w.upper;
  }
}

/// What a strip of one row of a stencil takes of a fine matrix and gives to a coarse one.
struct strip {
  /// Of the place one step back, none and one step on along the direction: rows that go, are kept, go again.
  const double* a[3][3];
  const double *lower, *upper;             ///< of the rows: lower of the last, upper of the first
  const double *to_lower[2], *to_upper[2]; ///< of the columns: of the first and of the last
  double* out[3];
};

/// Three rows of A times P, added with their weights. Step: what lies between rows; Sides, Centre: which places there
/// are; After: whether there is a third row.
template <int Step, bool Sides, bool Centre, bool After> FURROW_INLINE inline void multiply(const strip& s, index_t n) {
  const auto &back = s.a[0], &in = s.a[1], &on = s.a[2];
  double *const out_back = s.out[0], *const out_in = s.out[1], *const out_on = s.out[2];
  const double *const lower = s.lower, *const upper = s.upper;
  const double *const l0 = s.to_lower[0], *const l2 = s.to_lower[1], *const u0 = s.to_upper[0],
                      *const u2 = s.to_upper[1];
#pragma omp simd
  for (index_t i = 0; i < n; ++i) {
    const index_t k = Step * i;
    double row_back = 0, row_in = 0, row_on = 0; // of the kept row
    if constexpr (Sides) {
      row_back = back[1][k] * l0[i];
      row_in = back[1][k] * u0[i];
      if constexpr (After) row_in += on[1][k] * l2[i], row_on = on[1][k] * u2[i];
    }
    if constexpr (Centre) row_in += in[1][k];
    double first_back = 0, first_in = 0;
    if constexpr (Centre) first_back = in[0][k] * l0[i], first_in = in[0][k] * u0[i];
    if constexpr (Sides) first_back += back[0][k], first_in += on[0][k];
    row_back += upper[i] * first_back;
    row_in += upper[i] * first_in;
    if constexpr (After) {
      double last_in = 0, last_on = 0;
      if constexpr (Centre) last_in = in[2][k] * l2[i], last_on = in[2][k] * u2[i];
      if constexpr (Sides) last_in += back[2][k], last_on += on[2][k];
      row_in += lower[i] * last_in;
      row_on += lower[i] * last_on;
    }
    out_back[i] = row_back;
    out_in[i] = row_in;
    out_on[i] = row_on;
  }
}

template <int Step, bool Sides, bool Centre> void multiply(const strip& s, index_t n, bool after) {
  cpu::widest([&]() FURROW_INLINE {
    if (after) multiply<Step, Sides, Centre, true>(s, n);
    else multiply<Step, Sides, Centre, false>(s, n);
  });
}
template <int Step> void multiply(const strip& s, index_t n, bool sides, bool centre, bool after) {
  if (n <= 0) return;
  if (sides && centre) multiply<Step, true, true>(s, n, after);
  else if (sides) multiply<Step, true, false>(s, n, after);
  else multiply<Step, false, true>(s, n, after);
}

/// The products for one strip of kept points, place by place across the direction.
class galerkin {
public:
  galerkin(const box_matrix& a, const axis_transfer<double>& p, box_matrix& c)
      : a_(a), p_(p), c_(c), axis_(p.axis), gone_(p.gone()), step_(p.fine.stride(axis_)), one_(gone_.stride(axis_)) {}

  void make(index_t x0, index_t x1, index_t y, index_t z) const {
    for (int across = 0; across < place::count; ++across) {
      if (place::step(across, axis_) != 0) continue;
      const bool centre = a_.there()[across], sides = has(a_, across - unit()) || has(a_, across + unit());
      if (centre || sides) row_of_stencil(across, sides, centre, {x0, y, z}, x1);
    }
  }

private:
  int unit() const { return place::unit(axis_); }
  static bool has(const box_matrix& m, int place) { return m.there()[place]; }

  void row_of_stencil(int across, bool sides, bool centre, std::array<index_t, 3> at, index_t x1) const {
    double spare[longest_strip];
    double* out[3];
    const index_t first = c_.points().at(at[0], at[1], at[2]), count = x1 - at[0];
    for (int k = 0; k < 3; ++k) {
      const int place = across + (k - 1) * unit();
      out[k] = has(c_, place) ? c_.at(place) + first : spare;
    }
    // Columns across the direction: where they are none, A is 0.
    std::array<index_t, 3> to = at;
    bool inside = true;
    for (int other = 0; other < 3; ++other)
      if (other != axis_) {
        to[other] += place::step(across, other);
        inside = inside && (other == 0 || (to[other] >= 0 && to[other] < gone_.points[other]));
      }
    const index_t skip = axis_ != 0 && to[0] < 0 ? 1 : 0;
    const index_t end = axis_ != 0 ? std::min(count, gone_.points[0] - to[0]) : count;
    if (!inside) {
      for (double* const o : out) std::fill_n(o, count, 0.0);
      return;
    }
    for (double* const o : out) std::fill_n(o, skip, 0.0), std::fill(o + end, o + count, 0.0);
    product(across, sides, centre, at, to, skip, end, out);
  }

  void product(int across, bool sides, bool centre, std::array<index_t, 3> at, std::array<index_t, 3> to, index_t skip,
               index_t end, double* const* out) const {
    const index_t j = at[axis_], own = gone_.at(at[0], at[1], at[2]) + skip,
                  other = gone_.at(to[0], to[1], to[2]) + skip;
    at[axis_] *= 2;
    const index_t row = p_.fine.at(at[0], at[1], at[2]) + skip;
    strip s{};
    for (int k = 0; k < 3; ++k) {
      const int place = across + (k - 1) * unit();
      for (int r = 0; r < 3; ++r) s.a[k][r] = has(a_, place) ? a_.at(place) + row + r * step_ : strip_of_zeros.data();
      s.out[k] = out[k] + skip;
    }
    s.upper = p_.upper.data() + own, s.lower = p_.lower.data() + own + one_;
    s.to_upper[0] = p_.upper.data() + other, s.to_upper[1] = s.to_upper[0] + one_;
    s.to_lower[0] = p_.lower.data() + other, s.to_lower[1] = s.to_lower[0] + one_;
    const index_t n = end - skip;
    if (axis_ != 0) return multiply<1>(s, n, sides, centre, j + 1 < gone_.points[axis_]);
    const index_t both = std::min(n, gone_.points[0] - 1 - j);
    multiply<2>(s, both, sides, centre, true);
    if (both < n) multiply<2>(moved(s, both), n - both, sides, centre, false);
  }
  static strip moved(strip s, index_t by) {
    for (auto& rows : s.a)
      for (const double*& p : rows) p += 2 * by;
    for (const double** p : {&s.lower, &s.upper, &s.to_lower[0], &s.to_lower[1], &s.to_upper[0], &s.to_upper[1]})
      *p += by;
    for (double*& p : s.out) p += by;
    return s;
  }

  const box_matrix& a_;
  const axis_transfer<double>& p_;
  box_matrix& c_;
  int axis_;
  box gone_;
  index_t step_, one_; ///< to the next point along the direction: in the fine box, in that of the weights
};

} // namespace

axis_transfer<double> weights_along(const box_matrix& a, int axis) {
  axis_transfer<double> p{a.points(), axis, {}, {}};
  const box gone = p.gone();
  p.lower.resize(gone.size()), p.upper.resize(gone.size());
  for_each_strip(gone, [&](index_t x0, index_t x1, index_t y, index_t z) {
    double sum[3][longest_strip];
    const index_t n = x1 - x0, to = gone.at(x0, y, z);
    const index_t row = p.fine.at(axis == 0 ? 2 * x0 : x0, axis == 1 ? 2 * y : y, axis == 2 ? 2 * z : z);
    for (auto& s : sum) std::fill_n(s, n, 0.0);
    cpu::widest([&]() FURROW_INLINE {
      for (int k = 0; k < place::count; ++k) {
        if (!a.there()[k]) continue;
        double* const s = sum[place::step(k, axis) + 1];
        if (axis == 0) add<2>(n, a.at(k) + row, s);
        else add<1>(n, a.at(k) + row, s);
      }
      weigh(n, sum[0], sum[1], sum[2], p.lower.data() + to, p.upper.data() + to);
    });
  });
  return p;
}

box_layout layout_of_product(const box_layout& a, int axis) {
  const box coarse = a.points().with(axis, a.points().points[axis] / 2);
  place::set there;
  for (int k = 0; k < place::count; ++k) {
    const int across = k - place::step(k, axis) * place::unit(axis), unit = place::unit(axis);
    there[k] = (a.there()[across] || a.there()[across - unit] || a.there()[across + unit]) &&
               (k == across || coarse.points[axis] > 1);
  }
  return {coarse, there};
}

box_matrix galerkin_product(const box_matrix& a, const axis_transfer<double>& p, host_array<double> spare) {
  box_matrix c(layout_of_product(a, p.axis), std::move(spare));
  const galerkin product(a, p, c);
  for_each_strip(c.points(), [&](index_t x0, index_t x1, index_t y, index_t z) { product.make(x0, x1, y, z); });
  return c;
}

} // namespace furrow::amg
