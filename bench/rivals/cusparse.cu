// SPDX-License-Identifier: BSD-3-Clause
#include "cusparse.hpp"
#include "repack.hpp"

#include "formats/csr/convert.hpp"

#include <furrow/storage.hpp>

#include <array>

namespace furrow::bench::cusparse_rival {

cusparseHandle_t library() {
  static const cusparseHandle_t handle = [] {
    cusparseHandle_t h{};
    check(cusparseCreate(&h));
    return h;
  }();
  check(cusparseSetStream(handle, gpu::current_queue().stream));
  return handle;
}

namespace {

constexpr auto i32 = CUSPARSE_INDEX_32I;
constexpr auto from_zero = CUSPARSE_INDEX_BASE_ZERO;

void check_counts(index_t nnz) {
  furrow::check(nnz <= std::numeric_limits<std::int32_t>::max(), fault::input, "it is called with 32-bit offsets");
}

template <class V> class by_rows final : public product_of<V> {
public:
  by_rows(const coo<V>& a, cview<V> x, view<V> y, cusparseSpMVAlg_t algorithm)
      : product_of<V>(x, y, algorithm), a_(upload(to_csr<std::int32_t>(a))) {
    check(cusparseCreateCsr(&this->matrix_, a_.shape.rows, a_.shape.cols, a_.val.size(), a_.row_ptr.data(),
                            a_.col.data(), a_.val.data(), i32, i32, from_zero, type<V>));
    this->prepare();
  }
  double stored_bytes() const override { return byte_count(a_); }

private:
  csr<V, std::int32_t, gpu_array> a_;
};

template <class V> class by_triplets final : public product_of<V> {
public:
  by_triplets(const coo<V>& a, cview<V> x, view<V> y)
      : product_of<V>(x, y, CUSPARSE_SPMV_COO_ALG1), row_(a.row), col_(a.col), val_(a.val) {
    check(cusparseCreateCoo(&this->matrix_, a.shape.rows, a.shape.cols, a.nnz(), row_.data(), col_.data(), val_.data(),
                            i32, from_zero, type<V>));
    this->prepare();
  }
  double stored_bytes() const override { return double(2 * row_.byte_count() + val_.byte_count()); }

private:
  gpu_array<std::int32_t> row_, col_;
  gpu_array<V> val_;
};

/// Arrays of offsets, columns and values: what slices and blocks have in common.
template <class V> class packed : public product_of<V> {
public:
  double stored_bytes() const override {
    return double(begin_.byte_count() + col_.byte_count()) + double(val_.byte_count());
  }

protected:
  template <class M>
  packed(const M& m, cview<V> x, view<V> y, cusparseSpMVAlg_t algorithm)
      : product_of<V>(x, y, algorithm), begin_(m.begin), col_(m.col), val_(m.val) {}

  gpu_array<std::int32_t> begin_, col_;
  gpu_array<V> val_;
};

template <class V> class by_slices final : public packed<V> {
public:
  by_slices(const coo<V>& a, const sliced<V>& m, cview<V> x, view<V> y) : packed<V>(m, x, y, CUSPARSE_SPMV_SELL_ALG1) {
    check(cusparseCreateSlicedEll(&this->matrix_, a.shape.rows, a.shape.cols, a.nnz(), m.val.size(), sliced<V>::height,
                                  this->begin_.data(), this->col_.data(), this->val_.data(), i32, i32, from_zero,
                                  type<V>));
    this->prepare();
  }
};

template <class V, cusparseSpMVAlg_t algorithm>
std::unique_ptr<rival<V>> make_csr(const coo<V>& a, cview<V> x, view<V> y) {
  check_counts(a.nnz());
  return std::make_unique<by_rows<V>>(a, x, y, algorithm);
}
template <class V> std::unique_ptr<rival<V>> make_coo(const coo<V>& a, cview<V> x, view<V> y) {
  return std::make_unique<by_triplets<V>>(a, x, y);
}
template <class V> std::unique_ptr<rival<V>> make_sell(const coo<V>& a, cview<V> x, view<V> y) {
  return std::make_unique<by_slices<V>>(a, to_sliced(a), x, y);
}

#if CUSPARSE_VERSION >= 12603 // SpMV of blocks is newer than the rest
template <class V> class by_blocks final : public packed<V> {
public:
  by_blocks(const coo<V>& a, const blocked<V>& m, cview<V> x, view<V> y) : packed<V>(m, x, y, CUSPARSE_SPMV_BSR_ALG1) {
    check(cusparseCreateBsr(&this->matrix_, a.shape.rows / m.size, a.shape.cols / m.size, m.col.size(), m.size, m.size,
                            this->begin_.data(), this->col_.data(), this->val_.data(), i32, i32, from_zero, type<V>,
                            CUSPARSE_ORDER_ROW));
    this->prepare();
  }
};
template <class V> std::unique_ptr<rival<V>> make_bsr(const coo<V>& a, cview<V> x, view<V> y) {
  return std::make_unique<by_blocks<V>>(a, to_blocked(a), x, y);
}
#endif

} // namespace

std::span<const rival_way> ways() {
  static constexpr std::array all {
    rival_way{"csr_alg1", make_csr<double, CUSPARSE_SPMV_CSR_ALG1>, make_csr<float, CUSPARSE_SPMV_CSR_ALG1>},
        rival_way{"csr_alg2", make_csr<double, CUSPARSE_SPMV_CSR_ALG2>, make_csr<float, CUSPARSE_SPMV_CSR_ALG2>},
        rival_way{"sell", make_sell<double>, make_sell<float>}, rival_way{"coo", make_coo<double>, make_coo<float>},
#if CUSPARSE_VERSION >= 12603
        rival_way{"bsr", make_bsr<double>, make_bsr<float>},
#endif
  };
  return all;
}

/// Of the library that is loaded; touches no GPU.
std::string version() {
  int major = 0, minor = 0, patch = 0;
  check(cusparseGetProperty(MAJOR_VERSION, &major));
  check(cusparseGetProperty(MINOR_VERSION, &minor));
  check(cusparseGetProperty(PATCH_LEVEL, &patch));
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

} // namespace furrow::bench::cusparse_rival
