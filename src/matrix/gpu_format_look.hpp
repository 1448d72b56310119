// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/csr/csr.hpp"

#include <furrow/stats.hpp>
#include <furrow/value.hpp>

#include <span>
#include <string_view>

/// What a format finds out by itself (core/look.hpp) about rows that lie on a GPU: an object `gpu_look` in `namespace
/// NAME_format`, in the gpu_look.cu of its folder, which tells what the look of the host tells. Kernels leave integers
/// in words, those of all looks come home in one copy, and the host makes numbers of them. A format that looks without
/// a gpu_look.cu has its sample brought to the host.
namespace furrow {

using found_word = unsigned long long;

struct gpu_format_look {
  std::string_view format;
  index_t words = 0; ///< that come home; zeros before
  index_t ones = 0;  ///< words on the GPU beside them, all bits of them set before
  index_t room = 0;  ///< of any content; these stay until `numbers` is done
  /// Where they are.
  struct memory {
    found_word *words, *ones, *room;
  };
  /// Enqueues kernels that run beside those of other looks (`gpu::beside_others`), and wait for one of their own where
  /// they need what it has written. They have no memory of their own, which others would write to once it is released.
  /// lengths: shape, nnz and lengths, of at least one entry.
  void (*f64)(const csr<double, index_t, cview>& a, const stats& lengths, const memory& at);
  void (*f32)(const csr<float, index_t, cview>& a, const stats& lengths, const memory& at);
  /// Enqueues what else there is where rows that are sorted in windows take fewer places. May be null.
  void (*windows)(const csr<std::int8_t, index_t, cview>& pattern, const stats& lengths, const memory& at);
  /// home: the words. May fetch from `room`.
  estimate_numbers (*numbers)(const stats& lengths, const found_word* home, const found_word* room);

  template <class V> void begin(const csr<V, index_t, cview>& a, const stats& lengths, const memory& at) const {
    for_value<V>(f64, f32)(a, lengths, at);
  }
};

/// All of them; the table is generated.
std::span<const gpu_format_look* const> gpu_format_looks();

} // namespace furrow
