// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"
#include "core/parameters.hpp"
#include "gpu_cycle.hpp"
#include "gpu_setup.hpp"
#include "grid/box_matrix.hpp"
#include "grid/detect.hpp"
#include "grid/gpu_setup.hpp"
#include "grid/setup.hpp"
#include "matrix/gpu_products.hpp"
#include "multigrid.hpp"
#include "setup.hpp"

namespace furrow::amg_preconditioner {
namespace {

using namespace amg;

constexpr std::string_view usage = "amg[:sa|grid|pairwise[:DEGREE]]";
constexpr int usual_degree = 2, usual_pairwise_degree = 1;
constexpr std::size_t inner_levels = 2; ///< of the K-cycle

struct wanted {
  bool grid = true, aggregation = true; ///< with none named: a grid where there is one
  bool pairwise = false;
  int degree = usual_degree;

  explicit wanted(std::string_view parameters) {
    const entry_parameters given(usage, parameters);
    if (given.has(0)) {
      grid = given.word(0) == "grid", aggregation = given.word(0) == "sa", pairwise = given.word(0) == "pairwise";
      if (!grid && !aggregation && !pairwise) given.refuse(fmt::format("'{}' is no kind of multigrid", given.word(0)));
    }
    degree = static_cast<int>(given.whole(1, pairwise ? usual_pairwise_degree : usual_degree, 1, most_degree));
  }
};

spoken words_of(const found_box& found) { return {"grid", " of " + to_string(found.points), ""}; }
std::string shape_of(int block) { return block > 1 ? fmt::format(", nodes of {} unknowns", block) : std::string(); }
/// Why no grid is taken: a refusal where nothing else may be.
std::string without_grid(const found_box& found, const wanted& kind) {
  if (!kind.aggregation)
    throw refusal{status::breakdown,
                  fmt::format("no grid is found for amg:grid: the matrix {}; use amg:sa", found.failure)};
  return fmt::format("; no grid: the matrix {}", found.failure);
}

/// Throws a `refusal` where a kind is wanted that is made for symmetric matrices.
spoken words_of_nonsymmetric(const wanted& kind, const solver_needs& needed) {
  const bool with_motions = needed.coordinates != nullptr;
  if (!kind.aggregation || with_motions)
    throw refusal{status::breakdown,
                  fmt::format("{} made for symmetric matrices, and this one is not: use amg:sa{}, ilu or jacobi",
                              with_motions    ? "coordinates are those of nodes for multigrid"
                              : kind.pairwise ? "amg:pairwise is"
                                              : "amg:grid is",
                              with_motions ? " without them" : "")};
  return {"sa", ", not symmetric", ""};
}

#if FURROW_HAS_GPU
/// Smoothed aggregation that the GPU sets up, and can renew where a node is a row.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> aggregated_there(device_matrix a, int block, int degree, const spoken& words) {
  return multigrid_on_gpu<V, W>(smoothed_aggregation_on_gpu<W>(std::move(a), block), degree, words,
                                block == 1 ? std::make_unique<device_renewal<W>>() : nullptr);
}
#endif
/// The cycle where it is to run, of a hierarchy that the host has made.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> cycle_of(hierarchy<W> h, int degree, const spoken& words,
                                                std::unique_ptr<renewal<W>> renews, [[maybe_unused]] device where,
                                                std::size_t inner = 0) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return multigrid_on_gpu<V, W>(on_gpu(std::move(h)), degree, words, nullptr, inner);
#endif
  return std::make_unique<multigrid<V, W>>(std::move(h), degree, words, std::move(renews), inner);
}

template <class V, class W>
std::unique_ptr<any_preconditioner<V>> aggregated(row_view<double> a, int block, int degree, const spoken& words,
                                                  device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu() && a.nnz() <= gpu::most_entries) return aggregated_there<V, W>(uploaded(a), block, degree, words);
#endif
  using renews = aggregation_renewal<W>;
  return cycle_of<V, W>(smoothed_aggregation<W>(a, block), degree, words,
                        std::make_unique<renews>(renews::kind::smoothed, block), where);
}

/// Other values make it from the beginning: its set-up is numbers alone.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> on_grid(row_view<double> a, const found_box& found, int degree, device where) {
  const spoken words = words_of(found);
#if FURROW_HAS_GPU
  if (where.is_gpu() && a.nnz() <= gpu::most_entries)
    return multigrid_on_gpu<V, W>(grid_hierarchy_on_gpu<W>(view_of(uploaded(a)), found), degree, words, nullptr);
#endif
  return cycle_of<V, W>(grid_hierarchy<W>(in_box(a, found)), degree, words, nullptr, where);
}

template <class V, class W>
std::unique_ptr<any_preconditioner<V>> in_pairs(row_view<double> a, int degree, device where) {
  using renews = aggregation_renewal<W>;
  return cycle_of<V, W>(pairwise_aggregation<W>(a), degree, spoken{"pairwise", " in a K-cycle", ""},
                        std::make_unique<renews>(renews::kind::pairwise, 1), where, inner_levels);
}

/// Of a matrix that is not symmetric. Other values make it from the beginning.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> nonsymmetric(row_view<double> a, int degree, const spoken& words, device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu() && a.nnz() <= gpu::most_entries)
    return multigrid_on_gpu<V, W>(nonsymmetric_aggregation_on_gpu<W>(uploaded(a)), degree, words, nullptr);
#endif
  return cycle_of<V, W>(nonsymmetric_aggregation<W>(a), degree, words, nullptr, where);
}

/// With the motions of rigid bodies, set up by the host. Other values make it from the beginning.
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> with_motions(row_view<double> a, const node_coordinates& points, int degree,
                                                    const spoken& words, device where) {
  return cycle_of<V, W>(smoothed_aggregation<W>(a, points.dims, rigid_motions(as_cview(points.values), points.dims)),
                        degree, words, nullptr, where);
}

/// Rows of a node follow each other, or the vectors mean nothing: a numbering that does not go by nodes leaves aligned
/// blocks emptier than zeros that were not stored do, 1.6 places an entry at most on a grid of elastic cubes.
template <class V>
std::unique_ptr<any_preconditioner<V>> with_motions(row_view<double> a, cview<std::int32_t> row_of_entry,
                                                    const node_coordinates& points, int degree, bool in_single,
                                                    device where) {
  constexpr double most_fill = 1.7;
  const int dims = points.dims;
  require(points.values.size() == a.shape.rows, "coordinates are those of A's nodes");
  const double fill = fill_of_blocks(a, row_of_entry, dims);
  check(fill <= most_fill, fault::input,
        "the coordinates are in {0} dimensions, but A has no nodes of {0} unknowns: blocks of {0} x {0} have {1:.1f} "
        "places an entry, and unknowns of a node are to follow each other",
        dims, fill);
  const spoken words{
      "sa", fmt::format(", nodes of {} unknowns with {} motions of rigid bodies", dims, rigid_motions_in(dims)), ""};
  return in_single ? with_motions<V, float>(a, points, degree, words, where)
                   : with_motions<V, double>(a, points, degree, words, where);
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view parameters, device where,
                                            solver_needs needed) {
  const wanted kind(parameters);
  const bool in_single = fits_single(a, needed);
  const rows_of_triplets<V> own(a);
  host_array<double> wide;
  const row_view<double> rows = in_double(a, own.view().row_ptr, wide);
  if (!has_symmetric_levels(a, needed)) {
    const spoken words = words_of_nonsymmetric(kind, needed);
    return in_single ? nonsymmetric<V, float>(rows, kind.degree, words, where)
                     : nonsymmetric<V, double>(rows, kind.degree, words, where);
  }
  if (kind.pairwise)
    return in_single ? in_pairs<V, float>(rows, kind.degree, where) : in_pairs<V, double>(rows, kind.degree, where);
  if (needed.coordinates)
    return with_motions<V>(rows, as_cview(a.row), *needed.coordinates, kind.degree, in_single, where);
  spoken words{"sa", "", ""};
  if (kind.grid) {
    const found_box found = find_box(rows);
    if (found)
      return in_single ? on_grid<V, float>(rows, found, kind.degree, where)
                       : on_grid<V, double>(rows, found, kind.degree, where);
    words.choice = without_grid(found, kind);
  }
  const int block = unknowns_of_a_node(rows, as_cview(a.row));
  words.shape = shape_of(block);
  return in_single ? aggregated<V, float>(rows, block, kind.degree, words, where)
                   : aggregated<V, double>(rows, block, kind.degree, words, where);
}

#if FURROW_HAS_GPU
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> made_there(const rows_on_gpu<V>& a, const found_box* found, int block,
                                                  int degree, const spoken& words) {
  if (!found) return aggregated_there<V, W>(copied(a), block, degree, words);
  return multigrid_on_gpu<V, W>(grid_hierarchy_on_gpu<W>(a.view(), *found), degree, words, nullptr);
}

template <class V, class W>
std::unique_ptr<any_preconditioner<V>> nonsymmetric_there(const rows_on_gpu<V>& a, const wanted& kind,
                                                          solver_needs needed) {
  return multigrid_on_gpu<V, W>(nonsymmetric_aggregation_on_gpu<W>(copied(a)), kind.degree,
                                words_of_nonsymmetric(kind, needed), nullptr);
}

/// The host takes rows in pairs, nodes with coordinates, and what is refused.
template <class V>
std::unique_ptr<any_preconditioner<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                                 solver_needs needed) {
  const wanted kind(parameters);
  if (kind.pairwise || needed.coordinates || a.nnz() > gpu::most_entries) return nullptr;
  const auto in_single = fits_single(a);
  if (!in_single) return nullptr;
  if (!has_symmetric_levels(a, needed)) {
    if (!kind.aggregation) return nullptr;
    return *in_single ? nonsymmetric_there<V, float>(a, kind, needed) : nonsymmetric_there<V, double>(a, kind, needed);
  }
  const auto made = [&](const found_box* found, int block, const spoken& words) {
    return *in_single ? made_there<V, float>(a, found, block, kind.degree, words)
                      : made_there<V, double>(a, found, block, kind.degree, words);
  };
  std::string no_grid;
  if (kind.grid) {
    const found_box found = find_box_on_gpu(a.view());
    if (found) return made(&found, 1, words_of(found));
    no_grid = without_grid(found, kind);
  }
  const int block = unknowns_of_a_node(a.shape.rows, a.nnz(), s.blocks);
  return made(nullptr, block, {"sa", shape_of(block), no_grid});
}
#endif

/// Aggregation: twice A in single precision with 32-bit columns, which complexities up to 2 fit; while it is made, P
/// and P'A P in double beside it, A' where A is not symmetric, and on a GPU A and A P too. A grid: twice A in single
/// precision by diagonals, and vectors for twice as many rows, which a box that is halved in one direction at a time
/// fits; while it is made, A and the product of a direction.
preconditioner_layout lay_out(const stats& s, precision, std::string_view parameters) {
  const wanted kind(parameters);
  const double entries = double(s.nnz), rows = double(s.shape.rows);
  preconditioner_layout most{0, 0, false, 0};
  if (kind.aggregation || kind.pairwise)
    most = {16 * entries + 48 * rows, 44 * entries + 90 * rows, false, 50 * entries + 80 * rows};
  if (kind.grid) {
    most.bytes = std::max(most.bytes, 8 * entries + 80 * rows);
    most.making = std::max(most.making, 16 * entries + 150 * rows);
  }
  return most;
}

} // namespace

extern const preconditioner_entry entry{
    .name = "amg",
    .about = "algebraic multigrid: KIND is grid, sa (smoothed aggregation) or pairwise",
    .keeps = {true, true},
    .lay_out = lay_out,
    .f64 = make<double>,
    .f32 = make<float>,
    .parameters = "[:KIND[:DEGREE]]",
    .rows_f64 = FURROW_GPU_ONLY(from_rows<double>),
    .rows_f32 = FURROW_GPU_ONLY(from_rows<float>),
    .varies = [](std::string_view parameters) { return wanted(parameters).pairwise; },
    .takes_coordinates = [](std::string_view parameters) { return wanted(parameters).aggregation; }};

} // namespace furrow::amg_preconditioner
