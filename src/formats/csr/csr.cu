// SPDX-License-Identifier: BSD-3-Clause
#include "chunks.hpp"
#include "convert.hpp"
#include "gpu_cut.hpp"
#include "merge.hpp"
#include "row_launch.hpp"
#include "segments.hpp"
#include "several.hpp"
#include "stream.hpp"
#include "tiles.hpp"

#include "backends/gpu/occupancy.hpp"
#include "backends/gpu/operator.hpp"
#include "backends/gpu/primitives.hpp"
#include "backends/row_kernel.hpp"
#include "core/kernel_numbers.hpp"
#include "matrix/rows_on_gpu.hpp"

#include <furrow/formats.hpp>

#include <limits>

namespace furrow::csr_format {
namespace {

static_assert(gpu::warp == lanes_of_a_warp); // by which the lanes of a row are checked

template <class V, class I>
class csr_on_gpu final : public gpu::one_pass_operator<csr_on_gpu<V, I>, V, csr<V, I, kept_array>> {
  using base = gpu::one_pass_operator<csr_on_gpu<V, I>, V, csr<V, I, kept_array>>;
  friend base;
  using base::matrix_;

public:
  /// offsets: those of the matrix, on the host or on the GPU, where the work is cut. Waits for that, and for all that
  /// was enqueued before.
  template <class Offsets>
  csr_on_gpu(csr<V, I, kept_array> matrix, const Offsets& offsets, std::string_view kernel)
      : base(std::move(matrix)), kernel_(kernel), longest_(offsets.longest()) {
    const auto& a = matrix_;
    const index_t rows = a.shape.rows, multiprocessors = gpu::current_queue().multiprocessors;
    const double mean = rows ? double(a.val.size()) / double(rows) : 0;
    auto cuts = offsets.cuts();
    constexpr int none = -1;
    int several = none, own = none;
    if (longest_ > std::max(gpu::longest_walk, static_cast<index_t>(4 * mean)))
      several = cuts.pieces(gpu::several_shape::sizes);
    if (kernel_ == "auto") kernel_ = "stream"; // `choose` names the kernel that the costs put first
    launch_ = classic_launch(kernel_, mean, gpu::warp);
    if (kernel_ == "stream") {
      prepare(gpu::stream_kernel<V, I, 0>);
      prepare(gpu::stream_kernel<V, I, 1>);
      prepare(gpu::stream_kernel<V, I, gpu::gram_sums>);
      // A small matrix is cut finer, so that every block has a few tiles.
      const index_t share = a.val.size() / (multiprocessors * blocks_ * 4);
      const index_t entries = std::clamp<index_t>(share, 512, gpu::stream_shape::entries<V>);
      own = cuts.tiles(entries, tile_rows(mean, entries, gpu::stream_shape::threads, gpu::stream_shape::rows));
    }
    if (kernel_ == "chunks") {
      launch_.width = 4; // so that a row comes in one batch, most of the time
      while (launch_.width * gpu::chunk_shape::batch < mean && launch_.width < gpu::warp) launch_.width *= 2;
      cut_ = offsets.chunks(multiprocessors);
    }
    if (kernel_ == "merge") {
      const index_t items = a.shape.rows + a.val.size(), round = multiprocessors * 7;
      items_ = items > 2 * round * gpu::merge_shape<gpu::few_items>::tile ? gpu::many_items : gpu::few_items;
      if (items_ == gpu::many_items) prepare_merge<gpu::many_items>(offsets);
      else prepare_merge<gpu::few_items>(offsets);
    }
    if (kernel_ == "segments") {
      using shape = gpu::segment_shape;
      const index_t at_once = multiprocessors * shape::blocks<V, 0> * shape::tile;
      const index_t part = shape::tile * (a.val.size() > at_once ? shape::many : shape::few);
      own = cuts.pieces({shape::tile, shape::rows, part});
      ends_ = offsets.ends();
    }
    cuts.finish();
    if (several != none) take_several(cuts.at(several));
    if (kernel_ == "stream") tiles_ = std::move(cuts.at(own).tiles);
    if (kernel_ == "segments") take_segments(cuts.at(own));
  }

  std::string kernel() const override { return kernel_; }

private:
  bool has_short_rows() const override { return longest_ <= longest_of_a_thread; }
  bool multiply_several(cview<V> x, view<V> y, index_t count) const override {
    if (several_.empty()) return false;
    gpu::multiply_pieces<V, I>(view_of(matrix_), as_cview(several_),
                               {as_view(several_sums_), as_view(several_arrived_)}, x, y, count);
    return true;
  }

  void take_several(work_cut& cut) {
    several_ = std::move(cut.pieces);
    several_sums_ = gpu_array<V>(cut.slots * gpu::several_shape::vectors);
    several_arrived_ = gpu_array<unsigned>(cut.slots, 0u);
  }
  void take_segments(work_cut& cut) {
    pieces_ = std::move(cut.pieces);
    sums_ = gpu_array<V>(cut.slots);
    arrived_ = gpu_array<unsigned>(cut.slots, 0u);
    shares_ = gpu_array<double>(gpu::gram_sums * cut.slots, 0.0);
  }

  /// Lets a stream kernel have its shared memory, and finds out how many blocks of it run at a time.
  template <class Kernel> void prepare(Kernel kernel) {
    constexpr int bytes = sizeof(gpu::stream_memory<V, I>);
    gpu::allow_shared_memory(kernel, bytes);
    blocks_ = gpu::resident_blocks(kernel, gpu::stream_shape::threads, bytes);
  }

  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    gpu::queue& q = gpu::current_queue();
    if (kernel_ == "stream") {
      gpu::launch(gpu::stream_kernel<V, I, N>, gpu::blocks_for(tiles_.size(), 1, q, blocks_),
                  gpu::stream_shape::threads, sizeof(gpu::stream_memory<V, I>), q, view_of(matrix_), as_cview(tiles_),
                  alpha, x, beta, y, ending);
      return;
    }
    if (kernel_ == "merge")
      return items_ == gpu::many_items ? launch_merge<gpu::many_items>(alpha, x, beta, y, ending)
                                       : launch_merge<gpu::few_items>(alpha, x, beta, y, ending);
    if (kernel_ == "segments") {
      // A pass with sums may have no more blocks than there is room for partial sums.
      const unsigned blocks =
          N > 0 ? gpu::blocks_for(pieces_.size(), 1, q, gpu::blocks_with_sums) : static_cast<unsigned>(pieces_.size());
      const gpu::shared_rows<V> shared{as_view(sums_), as_view(arrived_), shares_.data()};
      gpu::launch(gpu::segments_kernel<V, I, N>, blocks, gpu::segment_shape::threads, 0, q, view_of(matrix_),
                  as_cview(pieces_), as_cview(ends_), alpha, x, beta, y, shared, ending);
      return;
    }
    with_width<gpu::warp>(launch_.width,
                          [&]<int W>(std::integral_constant<int, W>) { launch_rows<W>(alpha, x, beta, y, ending); });
  }

  template <int Items, class Offsets> void prepare_merge(const Offsets& offsets) {
    using shape = gpu::merge_shape<Items>;
    cut_ = offsets.path(shape::tile);
    left_ = gpu_array<gpu::left_over>(host_array<gpu::left_over>(cut_.size() - 1, gpu::left_over{}));
    blocks_ = gpu::resident_blocks(gpu::merge_kernel<Items, V, I, gpu::gram_sums>, shape::threads);
  }

  /// Not early: its blocks wait for each other, so that all of them must have room.
  template <int Items, int N>
  void launch_merge(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    gpu::queue& q = gpu::current_queue();
    gpu::merge_kernel<Items>
        <<<gpu::blocks_for(left_.size(), 1, q, blocks_), gpu::merge_shape<Items>::threads, 0, q.stream>>>(
            view_of(matrix_), as_cview(cut_), alpha, x, beta, y, as_view(left_), ending);
    gpu::check_launch();
  }

  template <int W, int N> void launch_rows(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    gpu::queue& q = gpu::current_queue();
    if constexpr (W >= 4) {
      if (kernel_ == "chunks") {
        gpu::launch(gpu::chunks_kernel<W, V, I, N>, static_cast<unsigned>(cut_.size() - 1), gpu::chunk_shape::threads,
                    0, q, view_of(matrix_), as_cview(cut_), alpha, x, beta, y, ending);
        return;
      }
    }
    const index_t work = matrix_.shape.rows * W;
    if (launch_.block) {
      const index_t wanted = (work + launch_.block - 1) / launch_.block;
      const auto blocks =
          launch_.fill ? gpu::blocks_for(work, launch_.block, q) : static_cast<unsigned>(std::max<index_t>(1, wanted));
      return gpu::end_rows_apart(ending, y, [&] {
        gpu::launch(gpu::rows_in_blocks_kernel<W, csr<V, I, cview>, V>, blocks, launch_.block, 0, q, view_of(matrix_),
                    alpha, x, beta, y);
      });
    }
    // A pass with sums may have no more blocks than there is room for partial sums; the others may cover all rows.
    const bool fill = launch_.fill || N > 0;
    constexpr int most = N > 0 ? gpu::blocks_with_sums : gpu::blocks_per_multiprocessor;
    const auto blocks = fill ? gpu::blocks_for(work, gpu::row_threads, q, most)
                             : static_cast<unsigned>((work + gpu::row_threads - 1) / gpu::row_threads);
    gpu::launch(gpu::rows_kernel<W, csr<V, I, cview>, V, N>, blocks, gpu::row_threads, 0, q, view_of(matrix_), alpha, x,
                beta, y, ending);
  }

  std::string kernel_;
  static constexpr index_t longest_of_a_thread = 1024;
  index_t longest_ = 0;
  gpu_array<piece> several_; ///< work of a product with several vectors where rows are too long to be walked
  mutable gpu_array<V> several_sums_;
  mutable gpu_array<unsigned> several_arrived_;
  row_launch launch_;
  gpu_array<tile> tiles_;
  gpu_array<std::int32_t> cut_; ///< of the chunks and merge kernels: the row that each share of the work begins in
  int blocks_ = 1;              ///< of the stream or merge kernel that a multiprocessor holds
  mutable gpu_array<gpu::left_over> left_; ///< of the merge kernel: what each tile leaves of its last row
  int items_ = gpu::few_items;             ///< of a thread of the merge kernel
  gpu_array<piece> pieces_;                ///< of the segments kernel, as the following
  gpu_array<std::uint8_t> ends_;
  mutable gpu_array<V> sums_;
  mutable gpu_array<unsigned> arrived_;
  mutable gpu_array<double> shares_; ///< of sums of y
};

/// What is cut on the host, as by `cuts_on_gpu`.
template <class I> class cuts_on_host {
public:
  explicit cuts_on_host(const host_array<I>& row_ptr) : row_ptr_(row_ptr) {}
  int tiles(index_t entries, index_t rows) {
    cuts_.push_back({gpu::on_device(cut_tiles(row_ptr_, entries, rows)), {}, 0});
    return static_cast<int>(cuts_.size()) - 1;
  }
  int pieces(const piece_sizes& s) {
    const furrow::pieces cut = cut_pieces(row_ptr_, s);
    cuts_.push_back({{}, gpu::on_device(cut.all), cut.slots});
    return static_cast<int>(cuts_.size()) - 1;
  }
  void finish() const { gpu::wait(gpu::current_queue()); }
  work_cut& at(int number) { return cuts_[static_cast<std::size_t>(number)]; }

private:
  const host_array<I>& row_ptr_;
  std::vector<work_cut> cuts_;
};

/// Offsets on the host, and what is cut there.
template <class I> struct host_offsets {
  const host_array<I>& row_ptr;
  index_t longest() const {
    index_t most = 0;
    for (index_t i = 0; i + 1 < row_ptr.size(); ++i) most = std::max<index_t>(most, row_ptr[i + 1] - row_ptr[i]);
    return most;
  }
  cuts_on_host<I> cuts() const { return cuts_on_host<I>(row_ptr); }
  gpu_array<std::int32_t> chunks(index_t parts) const { return gpu_array<std::int32_t>(cut_chunks(row_ptr, parts)); }
  gpu_array<std::int32_t> path(int tile) const { return gpu_array<std::int32_t>(cut_path(row_ptr, tile)); }
  gpu_array<std::uint8_t> ends() const { return gpu_array<std::uint8_t>(ends_of_rows(row_ptr)); }
};

/// The same on the GPU, but for the path of `merge`.
template <class I> struct gpu_offsets {
  cview<I> row_ptr;
  index_t nnz, row_max;
  index_t longest() const { return row_max; }
  cuts_on_gpu<I> cuts() const { return {row_ptr, nnz}; }
  gpu_array<std::int32_t> chunks(index_t parts) const { return cut_chunks_on_gpu(row_ptr, nnz, parts); }
  gpu_array<std::int32_t> path(int tile) const {
    host_array<I> home(row_ptr.size);
    copy_bytes(host_memory{}, home.data(), gpu_memory{}, row_ptr.data, home.byte_count());
    return gpu_array<std::int32_t>(cut_path(home, tile));
  }
  gpu_array<std::uint8_t> ends() const { return ends_of_rows_on_gpu(row_ptr, nnz); }
};

template <class V, class I> std::unique_ptr<any_operator<V>> wrap(coo<V> a, std::string_view kernel) {
  const auto home = to_csr<I>(std::move(a));
  auto there = upload(home);
  return std::make_unique<csr_on_gpu<V, I>>(csr<V, I, kept_array>{home.shape, kept_array<I>(std::move(there.row_ptr)),
                                                                  kept_array<std::int32_t>(std::move(there.col)),
                                                                  kept_array<V>(std::move(there.val))},
                                            host_offsets<I>{home.row_ptr}, kernel);
}

template <class I> struct narrow_offset {
  const index_t* from;
  I* to;
  FURROW_HD void operator()(index_t r) const { to[r] = static_cast<I>(from[r]); }
};

/// Columns and values stay where they lie, unless they are borrowed. longest: row. Waits once.
template <class V, class I>
std::unique_ptr<any_operator<V>> wrap(const rows_on_gpu<V>& a, index_t longest, std::string_view kernel) {
  gpu_array<I> row_ptr(a.row_ptr.size());
  gpu::for_each(row_ptr.size(), narrow_offset<I>{a.row_ptr.data(), row_ptr.data()});
  const gpu_offsets<I> offsets{as_cview(row_ptr), a.nnz(), longest};
  return std::make_unique<csr_on_gpu<V, I>>(
      csr<V, I, kept_array>{a.shape, kept_array<I>(std::move(row_ptr)), owned(a.col), owned(a.val)}, offsets, kernel);
}

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view kernel) {
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max();
  return narrow ? wrap<V, std::int32_t>(std::move(a), kernel) : wrap<V, std::int64_t>(std::move(a), kernel);
}

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view,
                                           std::string_view kernel) {
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max();
  const index_t longest = s.lengths_known() ? s.row_max : a.shape.cols;
  return narrow ? wrap<V, std::int32_t>(a, longest, kernel) : wrap<V, std::int64_t>(a, longest, kernel);
}

template std::unique_ptr<any_operator<double>> from_rows(const rows_on_gpu<double>&, const stats&, std::string_view,
                                                         std::string_view);
template std::unique_ptr<any_operator<float>> from_rows(const rows_on_gpu<float>&, const stats&, std::string_view,
                                                        std::string_view);
template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::csr_format
