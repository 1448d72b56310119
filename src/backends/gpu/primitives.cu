// SPDX-License-Identifier: BSD-3-Clause
#include "primitives.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <utility>

namespace furrow::gpu {
namespace primitives {

struct larger {
  template <class T> FURROW_HD T operator()(T a, T b) const { return a < b ? b : a; }
};
struct smaller {
  template <class T> FURROW_HD T operator()(T a, T b) const { return b < a ? b : a; }
};
struct add {
  template <class T> FURROW_HD T operator()(T a, T b) const { return a + b; }
};

template <class T, class Op> T reduce(cview<T> items, T first, Op op) {
  gpu_array<T> result(1);
  with_room([&](void* room, std::size_t& bytes, runtime::stream stream) {
    return cub::DeviceReduce::Reduce(room, bytes, items.data, result.data(), items.size, op, first, stream);
  });
  return fetch(result.data());
}

} // namespace primitives

void enqueue_offsets(gpu_array<index_t>& lengths) {
  check(runtime::fill(lengths.data() + lengths.size() - 1, 0, sizeof(index_t), current_queue().stream));
  with_room([&](void* room, std::size_t& bytes, runtime::stream stream) {
    return cub::DeviceScan::ExclusiveSum(room, bytes, lengths.data(), lengths.data(), lengths.size(), stream);
  });
}

index_t to_offsets(gpu_array<index_t>& lengths) {
  enqueue_offsets(lengths);
  return fetch(lengths.data() + lengths.size() - 1);
}

template <class T> index_t marked_places(const gpu_array<std::uint8_t>& marks, gpu_array<T>& found) {
  gpu_array<index_t> count(1);
  with_room([&](void* room, std::size_t& bytes, runtime::stream stream) {
    return cub::DeviceSelect::Flagged(room, bytes, thrust::counting_iterator<T>(0), marks.data(), found.data(),
                                      count.data(), marks.size(), stream);
  });
  return fetch(count.data());
}
template index_t marked_places(const gpu_array<std::uint8_t>&, gpu_array<std::int32_t>&);
template index_t marked_places(const gpu_array<std::uint8_t>&, gpu_array<std::uint32_t>&);

template <class T> T largest_of(cview<T> items, T first) {
  return primitives::reduce(items, first, primitives::larger{});
}
template double largest_of(cview<double>, double);
template float largest_of(cview<float>, float);

template <class T> T least_of(cview<T> items, T first) {
  return primitives::reduce(items, first, primitives::smaller{});
}
template double least_of(cview<double>, double);
template float least_of(cview<float>, float);

index_t sum_of(cview<index_t> items) { return primitives::reduce(items, index_t(0), primitives::add{}); }

template <class Key> void sort_pairs(gpu_array<Key>& keys, gpu_array<std::int32_t>& values, int bits) {
  gpu_array<Key> other_keys(keys.size());
  gpu_array<std::int32_t> other_values(values.size());
  cub::DoubleBuffer<Key> k(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::int32_t> v(values.data(), other_values.data());
  with_room([&](void* room, std::size_t& bytes, runtime::stream stream) {
    return cub::DeviceRadixSort::SortPairs(room, bytes, k, v, keys.size(), 0, bits, stream);
  });
  if (k.selector) std::swap(keys, other_keys);
  if (v.selector) std::swap(values, other_values);
}
template void sort_pairs(gpu_array<std::uint8_t>&, gpu_array<std::int32_t>&, int);
template void sort_pairs(gpu_array<std::int32_t>&, gpu_array<std::int32_t>&, int);
template void sort_pairs(gpu_array<std::uint64_t>&, gpu_array<std::int32_t>&, int);

void sort_pieces(const gpu_array<std::int32_t>& keys, const gpu_array<double>& values, const gpu_array<index_t>& begin,
                 const gpu_array<index_t>& end, gpu_array<std::int32_t>& sorted, gpu_array<double>& moved) {
  with_room([&](void* room, std::size_t& bytes, runtime::stream stream) {
    return cub::DeviceSegmentedSort::SortPairs(room, bytes, keys.data(), sorted.data(), values.data(), moved.data(),
                                               keys.size(), begin.size(), begin.data(), end.data(), stream);
  });
}

} // namespace furrow::gpu
