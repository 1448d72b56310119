// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters.hpp"
#include "core/symmetry.hpp"
#include "cycle.hpp"
#include "dense.hpp"
#include "gpu_cycle.hpp"
#include "gpu_setup.hpp"
#include "grid/detect.hpp"
#include "grid/setup.hpp"
#include "matrix/gpu_products.hpp"
#include "preconditioners/entry.hpp"
#include "setup.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow::amg_preconditioner {
namespace {

using namespace amg;

constexpr std::string_view usage = "amg[:sa|grid[:DEGREE]]";
constexpr int usual_degree = 2;
constexpr std::string_view grid_by_host = "; a grid would be set up by the host";
/// Diagonals that span more leave single precision no room for the vectors of a cycle.
constexpr double most_span = 1e30;

struct wanted {
  bool grid = true, aggregation = true; ///< with neither named: a grid where there is one
  int degree = usual_degree;

  explicit wanted(std::string_view parameters) {
    const entry_parameters given(usage, parameters);
    if (given.has(0)) {
      grid = given.word(0) == "grid", aggregation = given.word(0) == "sa";
      if (!grid && !aggregation) given.refuse(fmt::format("'{}' is no kind of multigrid", given.word(0)));
    }
    degree = static_cast<int>(given.whole(1, usual_degree, 1, most_degree));
  }
};

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

/// What the sentence about a hierarchy says of its kind, and of the choice of it.
struct spoken {
  std::string kind, shape, choice;
};
template <class H> std::string sentence(const H& h, int degree, int bits, const spoken& words) {
  double entries = 0;
  for (const multigrid_level& f : h.facts) entries += double(f.entries);
  return fmt::format("amg:{}:{}: {} level{}{}, {:.2f} times the entries of A, f{}; {}{}", words.kind, degree,
                     h.facts.size(), h.facts.size() == 1 ? "" : "s", words.shape,
                     entries / double(std::max<index_t>(h.facts[0].entries, 1)), bits, h.reason, words.choice);
}

/// A GPU sets up what has nodes of one unknown.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> aggregated(row_view<double> a, int block, int degree, const spoken& words,
                                                  [[maybe_unused]] device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) {
    auto h = block == 1 && a.nnz() <= gpu::most_entries ? smoothed_aggregation_on_gpu<W>(uploaded(a))
                                                        : on_gpu(smoothed_aggregation<W>(a, block));
    auto about = sentence(h, degree, 8 * sizeof(W), words);
    return multigrid_on_gpu<V>(std::move(h), degree, std::move(about));
  }
#endif
  auto h = smoothed_aggregation<W>(a, block);
  auto about = sentence(h, degree, 8 * sizeof(W), words);
  return std::make_unique<multigrid<V, W>>(std::move(h), degree, std::move(about));
}

/// The host sets it up.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> on_grid(box_matrix a, int degree, const spoken& words,
                                               [[maybe_unused]] device where) {
  auto h = grid_hierarchy<W>(std::move(a));
#if FURROW_HAS_GPU
  if (where.is_gpu()) {
    write_transfers(h);
    auto about = sentence(h, degree, 8 * sizeof(W), words);
    return multigrid_on_gpu<V>(on_gpu(std::move(h)), degree, std::move(about));
  }
#endif
  auto about = sentence(h, degree, 8 * sizeof(W), words);
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

/// The values in double: where they are, or in an array of its own.
template <class V> row_view<double> in_double(const coo<V>& a, cview<index_t> row_ptr, host_array<double>& wide) {
  if constexpr (sizeof(V) == 8) return {a.shape, row_ptr, as_cview(a.col), as_cview(a.val)};
  else {
    wide.resize(a.nnz());
    for (index_t k = 0; k < a.nnz(); ++k) wide[k] = double(a.val[k]);
    return {a.shape, row_ptr, as_cview(a.col), as_cview(wide)};
  }
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view parameters, device where,
                                            solver_needs needed) {
  const wanted kind(parameters);
  // A dense inverse alone is exact as far as double goes.
  const bool in_single = checked_span(a, needed) <= most_span && a.shape.rows > most_dense_rows;
  const rows_of_triplets<V> own(a);
  host_array<double> wide;
  const row_view<double> rows = in_double(a, own.view().row_ptr, wide);
  spoken words{"sa", "", ""};
  if (kind.grid && kind.aggregation && where.is_gpu()) words.choice = grid_by_host;
  else if (kind.grid) {
    const found_box found = find_box(rows);
    if (found) {
      words = {"grid", " of " + to_string(found.points), ""};
      return in_single ? on_grid<V, float>(in_box(rows, found), kind.degree, words, where)
                       : on_grid<V, double>(in_box(rows, found), kind.degree, words, where);
    }
    if (!kind.aggregation)
      throw refusal{status::breakdown,
                    fmt::format("no grid is found for amg:grid: the matrix {}; use amg:sa", found.failure)};
    words.choice = fmt::format("; no grid: the matrix {}", found.failure);
  }
  const int block = unknowns_of_a_node(rows, as_cview(a.row));
  if (block > 1) words.shape = fmt::format(", nodes of {} unknowns", block);
  return in_single ? aggregated<V, float>(rows, block, kind.degree, words, where)
                   : aggregated<V, double>(rows, block, kind.degree, words, where);
}

#if FURROW_HAS_GPU
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> aggregated(const rows_on_gpu<V>& a, int degree, const spoken& words) {
  auto h = smoothed_aggregation_on_gpu<W>(copied(a));
  auto about = sentence(h, degree, 8 * sizeof(W), words);
  return multigrid_on_gpu<V>(std::move(h), degree, std::move(about));
}

/// The host takes grids, nodes of several unknowns and what is refused.
template <class V>
std::unique_ptr<any_preconditioner<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                                 solver_needs needed) {
  const wanted kind(parameters);
  if (!kind.aggregation || a.nnz() > gpu::most_entries) return nullptr;
  if (unknowns_of_a_node(a.shape.rows, a.nnz(), s.blocks) > 1) return nullptr;
  if (!needed.a.symmetric && !is_symmetric(a)) return nullptr;
  const auto span = span_of_diagonal(a);
  if (!span) return nullptr;
  const spoken words{"sa", "", kind.grid ? std::string(grid_by_host) : ""};
  return *span <= most_span && a.shape.rows > most_dense_rows ? aggregated<V, float>(a, kind.degree, words)
                                                              : aggregated<V, double>(a, kind.degree, words);
}
#endif

/// Aggregation: twice A in single precision with 32-bit columns, which complexities up to 2 fit; while it is made, P
/// and P'A P in double beside it, and on a GPU A and A P too. A grid: twice A in single precision by diagonals, and
/// vectors for twice as many rows, which a box that is halved in one direction at a time fits; while it is made, A and
/// the product of a direction.
preconditioner_layout lay_out(const stats& s, precision, std::string_view parameters) {
  const wanted kind(parameters);
  const double entries = double(s.nnz), rows = double(s.shape.rows);
  preconditioner_layout most{0, 0, false, 0};
  if (kind.aggregation) most = {16 * entries + 48 * rows, 32 * entries + 80 * rows, false, 50 * entries + 80 * rows};
  if (kind.grid) {
    most.bytes = std::max(most.bytes, 8 * entries + 80 * rows);
    most.making = std::max(most.making, 16 * entries + 150 * rows);
  }
  return most;
}

} // namespace

extern const preconditioner_entry entry{.name = "amg",
                                        .about = "algebraic multigrid: a V-cycle on a grid, or of smoothed aggregation",
                                        .keeps = {true, true},
                                        .lay_out = lay_out,
                                        .f64 = make<double>,
                                        .f32 = make<float>,
                                        .parameters = "[:sa|grid[:DEGREE]]",
                                        .rows_f64 = FURROW_GPU_ONLY(from_rows<double>),
                                        .rows_f32 = FURROW_GPU_ONLY(from_rows<float>)};

} // namespace furrow::amg_preconditioner
