// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_setup.hpp"

#include "admission.hpp"
#include "by_diagonals.hpp"
#include "gpu_node_coarsening.hpp"
#include "gpu_rounding.hpp"

#include "backends/gpu/primitives.hpp"
#include "formats/padded.hpp"
#include "matrix/gpu_products.hpp"

#include <furrow/storage.hpp>

#include <limits>
#include <optional>
#include <utility>

namespace furrow::amg {
namespace gpu_setup {

/// The rows in the precision of a level; takes the offsets and columns.
template <class W> rows<W, gpu_array> kept(device_matrix&& a, double scale) {
  auto values = rounded_values<W>(a.val, scale);
  return {a.shape, std::move(a.row_ptr), std::move(a.col), std::move(values)};
}

struct mark_offsets {
  index_t rows;
  cview<index_t> row_ptr;
  cview<std::int32_t> col;
  std::uint8_t* seen; ///< of column - row + rows - 1
  FURROW_HD void operator()(index_t i) const {
    for (index_t k = row_ptr[i]; k < row_ptr[i + 1] && col[k] < rows; ++k) {
      std::uint8_t& there = seen[col[k] - i + rows - 1];
      if (!there) there = 1;
    }
  }
};
struct to_offset {
  index_t rows;
  std::int32_t* offset;
  FURROW_HD void operator()(index_t d) const { offset[d] -= static_cast<std::int32_t>(rows - 1); }
};
template <class W> struct put_on_diagonals {
  device_view a;
  double scale;
  cview<std::int32_t> offset;
  index_t stride;
  W* val;
  FURROW_HD void operator()(index_t i) const {
    index_t k = i < a.shape.rows ? a.row_ptr[i] : 0;
    const index_t end = i < a.shape.rows ? a.row_ptr[i + 1] : 0;
    for (index_t d = 0; d < offset.size; ++d) {
      const bool there = k < end && a.col[k] < a.shape.rows && a.col[k] - i == offset[d];
      val[d * stride + i] = there ? rounded<W>(a.val[k], scale) : W(0);
      k += there;
    }
  }
};

/// See offsets_on_gpu; the room of what is found is larger.
inline gpu_array<std::int32_t> offsets_there(index_t rows, cview<index_t> row_ptr, cview<std::int32_t> col,
                                             index_t most) {
  const index_t places = 2 * rows - 1;
  gpu_array<std::uint8_t> seen(places);
  gpu::fill_bytes(seen, 0);
  gpu::for_each(rows, mark_offsets{rows, row_ptr, col, seen.data()});
  gpu_array<std::int32_t> found(places);
  const index_t count = gpu::marked_places(seen, found);
  found.resize(count <= most ? count : 0);
  gpu::for_each(found.size(), to_offset{rows, found.data()});
  return found;
}

template <class V> struct widen {
  const V* from;
  double* to;
  FURROW_HD void operator()(index_t k) const { to[k] = double(from[k]); }
};

} // namespace gpu_setup

template <class V> gpu_array<double> in_double(cview<V> values) {
  gpu_array<double> wide(values.size);
  gpu::for_each(values.size, gpu_setup::widen<V>{values.data, wide.data()});
  return wide;
}
template gpu_array<double> in_double(cview<double>);
template gpu_array<double> in_double(cview<float>);

template <class V> device_matrix copied(const rows_on_gpu<V>& a) {
  return {a.shape, copy_of(a.row_ptr), copy_of(a.col), in_double(as_cview(a.val))};
}
template device_matrix copied(const rows_on_gpu<double>&);
template device_matrix copied(const rows_on_gpu<float>&);

std::vector<std::int32_t> offsets_on_gpu(index_t rows, cview<index_t> row_ptr, cview<std::int32_t> col, index_t most) {
  if (rows == 0) return {};
  const host_array<std::int32_t> found(gpu_setup::offsets_there(rows, row_ptr, col, most));
  return {found.begin(), found.end()};
}

template <class V> bool has_symmetric_levels(const rows_on_gpu<V>& a, solver_needs needed) {
  return needed.a.symmetric || is_symmetric(a);
}
template bool has_symmetric_levels(const rows_on_gpu<double>&, solver_needs);
template bool has_symmetric_levels(const rows_on_gpu<float>&, solver_needs);

template <class V> std::optional<bool> fits_single(const rows_on_gpu<V>& a) {
  const gpu_array<V> diagonal = furrow::diagonal_of(a);
  if (diagonal.empty()) return std::nullopt;
  const V least = gpu::least_of(as_cview(diagonal), std::numeric_limits<V>::max());
  if (!(least > 0)) return std::nullopt;
  const double span = double(gpu::largest_of(as_cview(diagonal), least)) / double(least);
  return span <= most_span && a.shape.rows > most_dense_rows;
}
template std::optional<bool> fits_single(const rows_on_gpu<double>&);
template std::optional<bool> fits_single(const rows_on_gpu<float>&);

template <class W> void fill_diagonals(dia<W, gpu_array>& d, const device_view& a, double scale) {
  gpu::for_each(d.stride, gpu_setup::put_on_diagonals<W>{a, scale, as_cview(d.offset), d.stride, d.val.data()});
}
template void fill_diagonals(dia<double, gpu_array>&, const device_view&, double);
template void fill_diagonals(dia<float, gpu_array>&, const device_view&, double);

template <class W> dia<W, gpu_array> by_diagonals(const device_matrix& a, double scale) {
  return by_diagonals<W>(view_of(a), a.val.size(), scale);
}
template <class W> dia<W, gpu_array> by_diagonals(const device_view& a, index_t entries, double scale) {
  const index_t n = a.shape.rows, stride = padded_rows(n);
  dia<W, gpu_array> d{a.shape, stride, {}, {}};
  const auto found = gpu_setup::offsets_there(n, a.row_ptr, a.col, most_diagonals<W>(n, entries));
  const index_t diagonals = found.size();
  if (diagonals == 0) return d;
  d.offset = gpu_array<std::int32_t>(diagonals);
  gpu_memory::copy(d.offset.data(), found.data(), d.offset.byte_count());
  d.val = gpu_array<W>(diagonals * stride);
  fill_diagonals(d, a, scale);
  return d;
}
template dia<double, gpu_array> by_diagonals(const device_matrix&, double);
template dia<float, gpu_array> by_diagonals(const device_matrix&, double);
template dia<double, gpu_array> by_diagonals(const device_view&, index_t, double);
template dia<float, gpu_array> by_diagonals(const device_view&, index_t, double);

namespace gpu_setup {

/// See build_levels.
class device_kit {
public:
  explicit device_kit(device_matrix a, int block = 1) : a_(std::move(a)), block_(block) {}

  shape2 shape() const { return a_.shape; }
  index_t entries() const { return a_.val.size(); }
  int block() const { return block_; }
  int coarse_block() const { return block_; }
  diagonal_extremes extremes() {
    diagonal_ = diagonal_of(view_of(a_));
    return extremes_of(diagonal_);
  }
  auto dense_inverse() const { return amg::dense_inverse(view_of(a_)); }
  [[noreturn]] void refuse(std::size_t level) const { refuse_indefinite(level); }
  smoother_steps steps() const { return {}; }
  double look() {
    if (block_ == 1) {
      inverse_ = inverse_of(diagonal_);
      return lambda_ = largest_eigenvalue(view_of(a_), inverse_);
    }
    inverse_ = inverse_blocks(view_of(a_), block_);
    squares_ = squares_of_blocks(view_of(a_), block_);
    return lambda_ = largest_eigenvalue(view_of(a_), block_, squares_, inverse_);
  }
  bool coarsen(double theta, bool smoothed) { return coarsen(theta, smoothed, nullptr); }
  shape2 coarse() const { return coarse_.shape; }
  index_t coarse_entries() const { return coarse_.val.size(); }
  template <class W> void keep(level<W, gpu_array>& l, double scale) {
    if (p_.shape.cols > 0) {
      l.p = kept<W>(std::exchange(p_, {}), 1);
      l.r = kept<W>(std::exchange(r_, {}), 1);
    }
    l.inverse = rounded_values<W>(inverse_, 1 / scale);
    if (block_ == 1) l.diagonals = by_diagonals<W>(a_, scale);
    if (!l.by_diagonals()) l.a = kept<W>(std::exchange(a_, {}), scale);
  }
  template <class W> gpu_array<W> keep_dense(const gpu_array<double>& t, double scale) {
    return rounded_values<W>(t, scale);
  }
  void go_down() { a_ = std::exchange(coarse_, {}); }

protected:
  /// plan: gets what stays for other values.
  bool coarsen(double theta, bool smoothed, device_plan* plan) {
    p_ = block_ > 1 ? node_prolongation(view_of(a_), block_, squares_, inverse_, lambda_, theta, smoothed)
                    : prolongation(view_of(a_), inverse_, lambda_, theta, smoothed, plan ? &plan->p : nullptr);
    if (p_.shape.cols == 0) return false;
    r_ = gpu::transposed(p_, plan ? &plan->from : nullptr);
    auto t = gpu::multiply(a_, p_, gpu::row_order::any, plan ? &plan->t_sums : nullptr);
    coarse_ = gpu::multiply(r_, t, gpu::row_order::sorted, plan ? &plan->coarse_sums : nullptr);
    if (plan) plan->t_row_ptr = std::move(t.row_ptr), plan->t_col = std::move(t.col);
    return true;
  }

  device_matrix a_, p_, r_, coarse_;
  gpu_array<double> inverse_;

private:
  gpu::memory_kept kept_;
  int block_; ///< unknowns of a node
  device_matrix squares_;
  gpu_array<double> diagonal_;
  double lambda_ = 1;
};

/// Of a matrix that is not symmetric: `nonsymmetric_kit`, whose last inverse it asks for.
class nonsymmetric_device_kit : public device_kit {
public:
  explicit nonsymmetric_device_kit(device_matrix a) : device_kit(std::move(a)) {}
  std::optional<gpu_array<double>> dense_inverse() const {
    const row_matrix<double> here{a_.shape, host_array<index_t>(a_.row_ptr), host_array<std::int32_t>(a_.col),
                                  host_array<double>(a_.val)};
    const auto inverse = general_inverse(here.view());
    return inverse ? std::optional(gpu_array<double>(*inverse)) : std::nullopt;
  }
  [[noreturn]] void refuse(std::size_t level) const { refuse_diagonal(level); }
  smoother_steps steps() const { return {false}; }
  double look() {
    inverse_ = damped_inverse(view_of(a_));
    return 1;
  }
  bool coarsen(double theta, bool smoothed) {
    {
      const device_matrix back = gpu::transposed(a_);
      auto both = nonsymmetric_prolongations(view_of(a_), view_of(back), inverse_, theta, smoothed);
      if (both.p.shape.cols == 0) return false;
      p_ = std::move(both.p);
      r_ = gpu::transposed(both.r_transposed);
    }
    coarse_ = gpu::multiply(r_, gpu::multiply(a_, p_, gpu::row_order::any), gpu::row_order::sorted);
    if (smoothed && !extremes_of(diagonal_of(view_of(coarse_))).are_positive()) return coarsen(theta, false);
    return true;
  }
};

/// Makes plans while it makes levels.
class planning_kit : public device_kit {
public:
  planning_kit(device_matrix a, std::vector<device_plan>& plans) : device_kit(std::move(a)), plans_(plans) {
    plans_.emplace_back();
  }
  bool coarsen(double theta, bool smoothed) { return device_kit::coarsen(theta, smoothed, &plans_.back()); }
  void go_down() {
    keep_places();
    plans_.emplace_back();
    device_kit::go_down();
  }
  /// Of a matrix that its level has not taken.
  void keep_places() {
    plans_.back().row_ptr = std::move(a_.row_ptr);
    plans_.back().col = std::move(a_.col);
  }

private:
  std::vector<device_plan>& plans_;
};

} // namespace gpu_setup

template <class W> hierarchy<W, gpu_array> smoothed_aggregation_on_gpu(device_matrix a, int block) {
  gpu_setup::device_kit kit(std::move(a), block);
  return build_levels<W, gpu_array>(kit);
}
template <class W> hierarchy<W, gpu_array> nonsymmetric_aggregation_on_gpu(device_matrix a) {
  gpu_setup::nonsymmetric_device_kit kit(std::move(a));
  return build_levels<W, gpu_array>(kit);
}
template hierarchy<double, gpu_array> nonsymmetric_aggregation_on_gpu(device_matrix);
template hierarchy<float, gpu_array> nonsymmetric_aggregation_on_gpu(device_matrix);
template <class W>
hierarchy<W, gpu_array> smoothed_aggregation_on_gpu(device_matrix a, std::vector<device_plan>& plans) {
  plans.clear();
  gpu_setup::planning_kit kit(std::move(a), plans);
  auto h = build_levels<W, gpu_array>(kit);
  kit.keep_places();
  return h;
}
template hierarchy<float, gpu_array> smoothed_aggregation_on_gpu(device_matrix, std::vector<device_plan>&);
template hierarchy<double, gpu_array> smoothed_aggregation_on_gpu(device_matrix, std::vector<device_plan>&);
template hierarchy<float, gpu_array> smoothed_aggregation_on_gpu(device_matrix, int);
template hierarchy<double, gpu_array> smoothed_aggregation_on_gpu(device_matrix, int);

} // namespace furrow::amg
