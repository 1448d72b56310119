// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters.hpp"
#include "core/symmetry.hpp"
#include "cycle.hpp"
#include "dense.hpp"
#include "gpu_cycle.hpp"
#include "gpu_setup.hpp"
#include "matrix/gpu_products.hpp"
#include "preconditioners/entry.hpp"
#include "setup.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow::amg_preconditioner {
namespace {

using namespace amg;

constexpr std::string_view usage = "amg[:sa[:DEGREE]]";
constexpr int usual_degree = 2;
/// Diagonals that span more leave single precision no room for the vectors of a cycle.
constexpr double most_span = 1e30;

int degree_of(std::string_view parameters) {
  const entry_parameters given(usage, parameters);
  if (given.has(0) && given.word(0) != "sa") given.refuse(fmt::format("'{}' is no kind of multigrid", given.word(0)));
  return static_cast<int>(given.whole(1, usual_degree, 1, most_degree));
}

/// M: one V-cycle in the precision W. r is multiplied by a power of two on the way in and z by its inverse on the way
/// out, so that W's range is where the numbers are.
template <class V, class W> class multigrid final : public any_preconditioner<V> {
public:
  multigrid(hierarchy<W> h, int degree, std::string about)
      : h_(std::move(h)), about_(std::move(about)), cycle_(h_, degree) {}

  void apply(cview<V> r, view<V> z) const override {
    const double scale = scale_of(r);
    const view<W> b = cycle_.b();
    cpu::for_each_range(r.size, 1 << 14, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) b[i] = static_cast<W>(double(r[i]) * scale);
    });
    cycle_.run();
    const cview<W> x = cycle_.x();
    const double back = h_.scale / scale; // both powers of two
    cpu::for_each_range(z.size, 1 << 14, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) z[i] = static_cast<V>(double(x[i]) * back);
    });
  }
  double stored_bytes() const override {
    double bytes = 0;
    for (const multigrid_level& f : h_.facts) bytes += f.bytes;
    return bytes;
  }
  std::string describe() const override { return about_; }
  std::vector<multigrid_level> levels() const override { return h_.facts; }

private:
  static double scale_of(cview<V> r) {
    const index_t parts = std::clamp<index_t>(r.size / (1 << 14), 1, cpu::thread_count());
    std::vector<double> most(static_cast<std::size_t>(parts), 0.0);
    cpu::for_each_task(parts, [&](index_t k) {
      double largest = 0;
      for (index_t i = cpu::part_begin(r.size, parts, k); i < cpu::part_begin(r.size, parts, k + 1); ++i)
        largest = std::max(largest, std::abs(double(r[i])));
      most[k] = largest;
    });
    const double largest = *std::ranges::max_element(most);
    if (!(largest > 0) || !std::isfinite(largest)) return 1; // zeros stay zeros; NaN and infinity go through
    return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -500, 500));
  }

  hierarchy<W> h_;
  std::string about_;
  mutable v_cycle<W> cycle_;
};

template <class H> std::string sentence(const H& h, int degree, int bits) {
  double entries = 0;
  for (const multigrid_level& f : h.facts) entries += double(f.entries);
  const int block = h.levels[0].block;
  return fmt::format("amg:sa:{}: {} level{}{}, {:.2f} times the entries of A, f{}; {}", degree, h.facts.size(),
                     h.facts.size() == 1 ? "" : "s", block > 1 ? fmt::format(", nodes of {} unknowns", block) : "",
                     entries / double(std::max<index_t>(h.facts[0].entries, 1)), bits, h.reason);
}

/// A GPU sets up what has nodes of one unknown.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> made(row_view<double> a, int block, int degree, [[maybe_unused]] device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) {
    auto h = block == 1 && a.nnz() <= gpu::most_entries ? smoothed_aggregation_on_gpu<W>(uploaded(a))
                                                        : on_gpu(smoothed_aggregation<W>(a, block));
    auto about = sentence(h, degree, 8 * sizeof(W));
    return multigrid_on_gpu<V>(std::move(h), degree, std::move(about));
  }
#endif
  auto h = smoothed_aggregation<W>(a, block);
  auto about = sentence(h, degree, 8 * sizeof(W));
  return std::make_unique<multigrid<V, W>>(std::move(h), degree, std::move(about));
}

/// Throws unless A can have a hierarchy; the largest by the smallest diagonal entry.
template <class V> double checked_span(const coo<V>& a, solver_needs needed) {
  if (!needed.a.symmetric && !is_symmetric(a))
    throw refusal{status::breakdown, "amg is made for symmetric matrices, and this one is not: use ilu, or jacobi"};
  host_array<double> diagonal(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 14,
                      [&](index_t first, index_t last) { std::fill_n(diagonal.data() + first, last - first, 0.0); });
  cpu::for_each_range(a.nnz(), 1 << 15, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      if (a.row[k] == a.col[k]) diagonal[a.row[k]] = double(a.val[k]);
  });
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (index_t i = 0; i < diagonal.size(); ++i) {
    if (!(diagonal[i] > 0))
      throw refusal{
          needed.a.definite ? status::not_positive_definite : status::breakdown,
          fmt::format("diagonal entry {} is {}: amg needs a matrix whose diagonal is positive", i + 1, diagonal[i])};
    least = std::min(least, diagonal[i]);
    most = std::max(most, diagonal[i]);
  }
  return most / least;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view parameters, device where,
                                            solver_needs needed) {
  const int degree = degree_of(parameters);
  const double span = checked_span(a, needed);
  const rows_of_triplets<V> own(a);
  host_array<double> wide;
  row_view<double> rows{a.shape, own.view().row_ptr, as_cview(a.col), {}};
  if constexpr (sizeof(V) == 8) rows.val = as_cview(a.val);
  else {
    wide.resize(a.nnz());
    for (index_t k = 0; k < a.nnz(); ++k) wide[k] = double(a.val[k]);
    rows.val = as_cview(wide);
  }
  const int block = unknowns_of_a_node(rows, as_cview(a.row));
  if (span <= most_span && a.shape.rows > most_dense_rows) // a dense inverse alone is exact as far as double goes
    return made<V, float>(rows, block, degree, where);
  return made<V, double>(rows, block, degree, where);
}

/// Twice A in single precision with 32-bit columns, which complexities up to 2 fit; while it is made, P and P'A P in
/// double beside it, and on a GPU A and A P too.
preconditioner_layout lay_out(const stats& s, precision, std::string_view parameters) {
  degree_of(parameters);
  const double entries = double(s.nnz), rows = double(s.shape.rows);
  return {16 * entries + 48 * rows, 32 * entries + 80 * rows, false, 50 * entries + 80 * rows};
}

} // namespace

extern const preconditioner_entry entry{.name = "amg",
                                        .about = "algebraic multigrid: a V-cycle of smoothed aggregation",
                                        .keeps = {true, true},
                                        .lay_out = lay_out,
                                        .f64 = make<double>,
                                        .f32 = make<float>,
                                        .parameters = "[:sa[:DEGREE]]"};

} // namespace furrow::amg_preconditioner
