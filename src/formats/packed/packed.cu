// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "gpu_convert.hpp"

#include "formats/sell/slice_kernel.hpp"

namespace furrow::packed_format {
namespace {

/// What hides the waiting for memory: two groups of four slots that a thread has under way, or twice as many threads a
/// multiprocessor with one group each. Where there are rows for all of these threads they do it better (f64, H200: 64
/// copies of cage10 17.9 us for 19.1, stencil3d27:100 29.8 for 34.6); fewer or longer rows, which are shared among
/// threads, want reads (bcsstk38 6.7 us for 12.1), and sums of a pass take registers that so many threads lack.
enum class crowd { reads, threads };
inline constexpr int most_threads = 2048; ///< of a multiprocessor

template <crowd By, bool Split, packed_values Values, class V, int N>
__global__ void __launch_bounds__(slice_threads, By == crowd::threads ? most_threads / slice_threads : 4)
    packed_kernel(packed<V, cview> a, int sharing, V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) {
  constexpr int batch = By == crowd::threads ? 1 : 2;
  gpu::multiply_slices<Split>(a, sharing, alpha, x, beta, y, ending, [&](lanes lane, index_t position) {
    return partial<batch, Values>(lane, a, position, x);
  });
}

template <class V>
class packed_on_gpu final : public gpu::one_pass_operator<packed_on_gpu<V>, V, packed<V, gpu_array>> {
  using base = gpu::one_pass_operator<packed_on_gpu<V>, V, packed<V, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  /// widest: slice.
  packed_on_gpu(packed<V, gpu_array> matrix, index_t widest, std::string_view kernel) : base(std::move(matrix)) {
    const auto& a = matrix_;
    const double mean = a.slice.empty() ? 0 : double(a.base.size()) / double(a.slice.size());
    sharing_ = gpu::sharing_for(kernel, a.shape.rows, mean, widest);
  }

  std::string kernel() const override { return sharing_ > 1 ? "split" : "slices"; }

private:
  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    switch (values_of(matrix_)) {
    case packed_values::stored:
      return start<packed_values::stored>(alpha, x, beta, y, ending);
    case packed_values::numbered:
      return start<packed_values::numbered>(alpha, x, beta, y, ending);
    case packed_values::one:
      return start<packed_values::one>(alpha, x, beta, y, ending);
    }
  }

  template <packed_values Values, int N>
  void start(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    const gpu::queue& q = gpu::current_queue();
    auto* kernel = sharing_ > 1 ? packed_kernel<crowd::reads, true, Values, V, N>
                                : packed_kernel<crowd::reads, false, Values, V, N>;
    if constexpr (N == 0)
      if (sharing_ == 1 && matrix_.shape.rows >= index_t(q.multiprocessors) * most_threads * 3 / 2)
        kernel = packed_kernel<crowd::threads, false, Values, V, N>;
    const unsigned blocks = gpu::slice_blocks<N>(matrix_.shape.rows, sharing_, q);
    gpu::launch(kernel, blocks, slice_threads, 0, q, view_of(matrix_), sharing_, alpha, x, beta, y, ending);
  }

  int sharing_ = 1; ///< threads a row
};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel) {
  const auto home = to_packed(std::move(a), read_parameters(parameters));
  index_t widest = 0;
  for (const packed_slice& s : home.slice) widest = std::max<index_t>(widest, s.width);
  return std::make_unique<packed_on_gpu<V>>(upload(home), widest, kernel);
}

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel) {
  const index_t window = read_parameters(parameters);
  const slicing how = window ? slicing{delta_rows, window} : best_slicing(s, delta_rows, sizeof(V) + 1);
  std::vector<V> dictionary;
  if (s.distinct_values <= 256 && numbers_pay(s.distinct_values, double(places_of(s, how)), sizeof(V)))
    dictionary = a.known && a.known->distinct ? *a.known->distinct : distinct_on_gpu(as_cview(a.val));
  return std::make_unique<packed_on_gpu<V>>(to_packed(a, s.row_max, how, dictionary, counted_places(s, how)), s.row_max,
                                            kernel);
}

template std::unique_ptr<any_operator<double>> from_rows(const rows_on_gpu<double>&, const stats&, std::string_view,
                                                         std::string_view);
template std::unique_ptr<any_operator<float>> from_rows(const rows_on_gpu<float>&, const stats&, std::string_view,
                                                        std::string_view);
template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::packed_format
