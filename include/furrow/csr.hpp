// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/operator.hpp>

#include <memory>

namespace furrow {

/// Compressed sparse rows that own their arrays in one memory, that of the host or of a GPU, and multiply there: the
/// matrix of a method that is written down line by line. `matrix` looks for a faster format of the same entries.
///
///   host_csr<double> a({n, n}, row_ptr, col, val);   // copies of the arrays
///   gpu_csr<double> there(a);                        // the same matrix on the current GPU
///   host_csr<double> back(there);                    // and home again
///   there.apply(1, x, 0, y);                         // y = A x, vectors on that GPU
///
/// For double and float, with up to 2^31 - 1 entries. It stays as it is: copies cost nothing, they share the arrays.
/// Products by the kernel that format `csr` takes by itself; the same bits on every run with the same build and device.
/// Memory: the arrays, once, on a GPU the offsets twice.
template <class V, class Memory> class basic_csr final : public any_operator<V> {
public:
  /// From arrays in host memory, `rows + 1` offsets and as many columns as values; the columns of a row in any order,
  /// entries that share a place are added up, so that `nnz()` may be less. For a GPU on the one that `select_device`
  /// chose for this thread, and waits. Throws as `to_coo`, `fault::device` where there is no GPU.
  basic_csr(shape2 shape, cview<std::int32_t> row_ptr, cview<std::int32_t> col, cview<V> val);
  /// The same matrix in another memory; waits.
  template <class Other>
  explicit basic_csr(const basic_csr<V, Other>& a)
      : basic_csr(a.shape(), at_home<Other>(a.row_ptr()), at_home<Other>(a.col()), at_home<Other>(a.val())) {}

  basic_csr(const basic_csr&) = default; // also where it is moved from: the arrays are shared
  basic_csr& operator=(const basic_csr&) = default;

  shape2 shape() const override { return shape_; }
  index_t nnz() const { return val_.size; }
  /// The arrays, where the matrix lies. Columns ascend within a row.
  cview<std::int32_t> row_ptr() const { return row_ptr_; }
  cview<std::int32_t> col() const { return col_; }
  cview<V> val() const { return val_; }

  device where() const override { return op_->where(); }
  bool multiplies_blocks() const override { return op_->multiplies_blocks(); }
  double bytes_per_apply() const override { return op_->bytes_per_apply(); }
  double stored_bytes() const override { return op_->stored_bytes(); }
  std::string kernel() const override { return op_->kernel(); }
  std::optional<coo<V>> to_triplets() const override { return op_->to_triplets(); }

private:
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override { op_->apply(alpha, x, beta, y); }
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override { op_->apply_dot(x, y, xy); }
  void do_apply_block(cview<V> x, view<V> y, index_t count) const override { op_->apply_block(x, y, count); }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override { op_->apply_with(x, y, e); }
  std::optional<double> do_exact_residual(cview<V> b, cview<V> x, view<V> r) const override {
    return op_->exact_residual(b, x, r);
  }

  template <class From, class T> static host_array<T> at_home(cview<T> v) {
    host_array<T> home(v.size);
    copy_bytes(host_memory{}, home.data(), From{}, v.data, home.byte_count());
    return home;
  }

  shape2 shape_;
  cview<std::int32_t> row_ptr_, col_; ///< of arrays that `op_` keeps
  cview<V> val_;
  std::shared_ptr<const any_operator<V>> op_;
};

template <class V> using host_csr = basic_csr<V, host_memory>;
template <class V> using gpu_csr = basic_csr<V, gpu_memory>;

} // namespace furrow
