// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_aggregates.hpp"

#include "independent_set.hpp"

#include "backends/gpu/primitives.hpp"

#include <furrow/storage.hpp>

#include <cub/device/device_select.cuh>

#include <bit>
#include <utility>

namespace furrow::amg {
namespace gpu_aggregates {

struct has_couplings {
  graph_view g;
  FURROW_HD bool operator()(std::int32_t i) const { return !g.alone(i); }
};
struct is_open {
  const word* w;
  FURROW_HD bool operator()(std::int32_t i) const { return !is_decided(w[i]); }
};

/// Numbers of rows, ascending, fewer from round to round; how many is known to the GPU first.
class list {
public:
  explicit list(index_t n) : items_(n), other_(n), count_(1), size_(n) {
    gpu::for_each(n, gpu::count_up<std::int32_t>{items_.data()});
  }
  const std::int32_t* data() const { return items_.data(); }
  index_t size() const { return size_; }
  /// Those that pass stay, once `settle` has fetched their number.
  template <class Keep> void filter(Keep keep) {
    gpu::with_room([&](void* room, std::size_t& bytes, auto stream) {
      return cub::DeviceSelect::If(room, bytes, items_.data(), other_.data(), count_.data(), size_, keep, stream);
    });
    std::swap(items_, other_);
  }
  void settle() { size_ = gpu::fetch(count_.data()); }

private:
  gpu_array<std::int32_t> items_, other_;
  gpu_array<index_t> count_;
  index_t size_;
};

struct leave_open {
  word *own, *near;
  FURROW_HD void operator()(index_t i) const { own[i] = near[i] = out_of_set; }
};
struct draw {
  const std::int32_t* item;
  int round, bits;
  word* own;
  FURROW_HD void operator()(index_t k) const { own[item[k]] = word_of(item[k], round, bits); }
};
struct look_around {
  const std::int32_t* item;
  graph_view g;
  const word* own;
  word* near;
  FURROW_HD void operator()(index_t k) const { near[item[k]] = least_around(g, own, item[k]); }
};
struct decide {
  const std::int32_t* item;
  graph_view g;
  const word* near;
  word* own;
  FURROW_HD void operator()(index_t k) const { own[item[k]] = decided(g, near, own[item[k]], item[k]); }
};

/// The words of the nodes of a set as `independent_at_distance_two` has it.
inline gpu_array<word> decided_words(const coupling_graph<gpu_array>& graph) {
  const index_t n = graph.first.size() - 1;
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n) + 1));
  const graph_view g = view_of(graph);
  gpu_array<word> own(n), near(n);
  gpu::for_each(n, leave_open{own.data(), near.data()});
  list undecided(n), watched(n);
  undecided.filter(has_couplings{g});
  watched.filter(has_couplings{g});
  undecided.settle();
  watched.settle();
  for (int round = 0; undecided.size() > 0; ++round) {
    gpu::for_each(undecided.size(), draw{undecided.data(), round, bits, own.data()});
    gpu::for_each(watched.size(), look_around{watched.data(), g, own.data(), near.data()});
    gpu::for_each(undecided.size(), decide{undecided.data(), g, near.data(), own.data()});
    undecided.filter(is_open{own.data()});
    watched.filter(is_open{near.data()});
    undecided.settle();
    watched.settle();
  }
  return own;
}

struct is_root {
  const word* own;
  index_t* root;
  FURROW_HD void operator()(index_t i) const { root[i] = own[i] == in_set; }
};
struct number_roots {
  const word* own;
  const index_t* before;
  std::int32_t* number;
  FURROW_HD void operator()(index_t i) const {
    number[i] = own[i] == in_set ? static_cast<std::int32_t>(before[i]) : -1;
  }
};
struct join_roots {
  graph_view g;
  const std::int32_t* number;
  std::int32_t* first;
  FURROW_HD void operator()(index_t i) const { first[i] = root_beside(g, number, i); }
};
struct join_aggregates {
  graph_view g;
  const std::int32_t* first;
  std::int32_t* of;
  FURROW_HD void operator()(index_t i) const { of[i] = first[i] < 0 ? strongest(g, first, i) : first[i]; }
};

} // namespace gpu_aggregates

device_aggregates aggregates_of(const coupling_graph<gpu_array>& graph) {
  using namespace gpu_aggregates;
  const index_t n = graph.first.size() - 1;
  const graph_view g = view_of(graph);
  const gpu_array<word> own = decided_words(graph);
  gpu_array<index_t> before(n + 1);
  gpu::for_each(n, is_root{own.data(), before.data()});
  const index_t count = gpu::to_offsets(before);
  gpu_array<std::int32_t> number(n), first(n);
  gpu::for_each(n, number_roots{own.data(), before.data(), number.data()});
  gpu::for_each(n, join_roots{g, number.data(), first.data()});
  gpu::for_each(n, join_aggregates{g, first.data(), number.data()});
  return {std::move(number), count};
}

} // namespace furrow::amg
