// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "columns.hpp"
#include "cudss.hpp"
#include "factor_size.hpp"
#include "factors.hpp"

#include "backends/gpu/space.hpp"
#include "solvers/pass.hpp"

#include <furrow/device.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace furrow::lu {
namespace {

/// An object of the library, with what ends it.
class owned {
public:
  owned() = default;
  owned(const owned&) = delete;
  ~owned() {
    if (it_) end_(owner_, it_);
  }
  cudss::object* out(void (*end)(const void*, cudss::object), const void* owner) {
    end_ = end, owner_ = owner;
    return &it_;
  }
  cudss::object get() const { return it_; }

private:
  cudss::object it_ = nullptr;
  void (*end_)(const void*, cudss::object) = nullptr;
  const void* owner_ = nullptr;
};

/// A as compressed rows of doubles, scaled by powers of two, without stored
/// zeros.
struct scaled_rows {
  host_array<std::int32_t> begin, col;
  host_array<double> val;
};
template <class V> scaled_rows rows_of(const coo<V>& a, const scaled_columns& s) {
  scaled_rows r{host_array<std::int32_t>(a.shape.rows + 1, 0), host_array<std::int32_t>(s.a.nnz()),
                host_array<double>(s.a.nnz())};
  index_t to = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.val[k] == 0) continue;
    r.col[to] = a.col[k];
    r.val[to++] = double(a.val[k]) * s.row_scale[a.row[k]] * s.col_scale[a.col[k]];
    ++r.begin[a.row[k] + 1];
  }
  for (index_t i = 0; i < a.shape.rows; ++i) r.begin[i + 1] += r.begin[i];
  return r;
}

/// y = d x, from one precision to another.
struct rescale {
  FURROW_HD void load() {}
  template <class X, class Y> FURROW_HD void operator()(Y& y, X x, double d, sums<0>) const {
    y = static_cast<Y>(d * double(x));
  }
};

template <class V> class cudss_inverse final : public any_preconditioner<V>, public tells_factor_size {
public:
  cudss_inverse(const cudss::library& library, const coo<V>& a, device where)
      : lib_(library), n_(a.shape.rows), given_bytes_(double(sizeof(V) + 8) * double(a.nnz())), b_(n_), x_(n_) {
    const scaled_columns s = scale_and_sort(a);
    if (const index_t j = transversal_of(s.a).without; j >= 0) refuse_singular(j);
    row_scale_ = gpu_array<double>(s.row_scale);
    col_scale_ = gpu_array<double>(s.col_scale);
    const scaled_rows rows = rows_of(a, s);
    begin_ = gpu_array<std::int32_t>(rows.begin);
    col_ = gpu_array<std::int32_t>(rows.col);
    val_ = gpu_array<double>(rows.val);
    if (n_ > 0) factor(where);
  }

  void apply(cview<V> r, view<V> z) const override {
    if (n_ == 0) return;
    gpu::space<double> space;
    space.sweep(n_, pass(rescale{}, out(as_view(b_)), in(r), in(as_cview(row_scale_))));
    cudss::check(lib_.set_stream(handle_.get(), gpu::current_queue().stream), "the stream is set");
    run(cudss::solve, "it solves");
    space.sweep(n_, pass(rescale{}, out(z), in(as_cview(x_)), in(as_cview(col_scale_))));
  }
  bool waits() const override { return true; }
  double stored_bytes() const override {
    return kept_ + double(row_scale_.byte_count() + col_scale_.byte_count() + begin_.byte_count() + col_.byte_count() +
                          val_.byte_count() + b_.byte_count() + x_.byte_count());
  }
  factor_size size_of_factors() const override {
    return {0, expected_bytes_, false, double(factor_entries_), kept_, pivots_};
  }
  std::string describe() const override {
    if (n_ == 0) return {};
    return cudss::describe(lib_, 12 * double(factor_entries_) / given_bytes_, pivots_);
  }

private:
  void factor(device where) {
    make_objects();
    run(cudss::analysis, "it orders the rows");
    std::array<std::int64_t, 16> estimates{}; // [0]: kept on the device, [1]: at the peak there, [3]: on
                                              // the host
    get(lib_.memory_estimates(), estimates);
    cudss::check_memory(double(estimates[1]), double(available_gpu_memory(where.ordinal)), "GPU");
    cudss::check_memory(double(estimates[3]), double(available_host_memory()), "host");
    expected_bytes_ = double(estimates[0]);
    run(cudss::factorization, "it factors");
    gpu::wait(gpu::current_queue());
    kept_ = double(estimates[0]);
    int info = 0;
    get(cudss::info, info);
    if (info != 0) refuse_singular(std::max(std::abs(info) - 1, 0));
    get(cudss::lu_nnz, factor_entries_);
    get(cudss::pivots, pivots_);
  }

  void make_objects() {
    const auto end_config = [](const void* lib, cudss::object o) {
      static_cast<const cudss::library*>(lib)->config_destroy(o);
    };
    const auto end_matrix = [](const void* lib, cudss::object o) {
      static_cast<const cudss::library*>(lib)->matrix_destroy(o);
    };
    const auto end_handle = [](const void* lib, cudss::object o) {
      static_cast<const cudss::library*>(lib)->destroy(o);
    };
    const auto end_data = [](const void* self, cudss::object o) {
      const auto& mine = *static_cast<const cudss_inverse*>(self);
      mine.lib_.data_destroy(mine.handle_.get(), o);
    };
    cudss::check(lib_.create(handle_.out(end_handle, &lib_)), "it starts");
    cudss::check(lib_.set_stream(handle_.get(), gpu::current_queue().stream), "the stream is set");
    cudss::check(lib_.config_create(config_.out(end_config, &lib_)), "it starts");
    constexpr int on = 1;
    cudss::check(lib_.config_set(config_.get(), lib_.deterministic_mode(), &on, sizeof on), "it is made repeatable");
    cudss::check(lib_.data_create(handle_.get(), data_.out(end_data, this)), "it starts");
    cudss::check(
        lib_.matrix_create_csr(a_.out(end_matrix, &lib_), n_, val_.size(), begin_.data(), col_.data(), val_.data()),
        "it takes the matrix");
    constexpr int columns = 0;
    cudss::check(lib_.matrix_create_dn(right_.out(end_matrix, &lib_), n_, 1, n_, b_.data(), cudss::real_64, columns),
                 "it takes b");
    cudss::check(lib_.matrix_create_dn(answer_.out(end_matrix, &lib_), n_, 1, n_, x_.data(), cudss::real_64, columns),
                 "it takes x");
  }

  void run(int phase, const char* doing) const {
    cudss::check(lib_.execute(handle_.get(), phase, config_.get(), data_.get(), a_.get(), answer_.get(), right_.get()),
                 doing);
  }
  template <class T> void get(int what, T& value) {
    std::size_t written = 0;
    cudss::check(lib_.data_get(handle_.get(), data_.get(), what, &value, sizeof value, &written), "it is asked");
  }
  const cudss::library& lib_;
  index_t n_;
  double given_bytes_, kept_ = 0, expected_bytes_ = 0;
  std::int64_t factor_entries_ = 0;
  int pivots_ = 0;
  mutable gpu_array<double> b_, x_;
  gpu_array<double> row_scale_, col_scale_, val_;
  gpu_array<std::int32_t> begin_, col_;
  owned handle_, config_, data_, a_, right_,
      answer_; ///< in this order, so that the handle ends last
};

} // namespace

template <class V> std::unique_ptr<any_preconditioner<V>> factored_by_cudss(const coo<V>& a, device where) {
  const cudss::library* const library = cudss::find();
  if (!library) cudss::refuse_without();
  return std::make_unique<cudss_inverse<V>>(*library, a, where);
}
template std::unique_ptr<any_preconditioner<double>> factored_by_cudss(const coo<double>&, device);
template std::unique_ptr<any_preconditioner<float>> factored_by_cudss(const coo<float>&, device);

} // namespace furrow::lu
