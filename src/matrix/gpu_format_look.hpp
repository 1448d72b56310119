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
  index_t room = 0;  ///< words on the GPU beside them, of any content, which stay until `numbers` is done
  /// Enqueues. sizes: shape and nnz, of at least one entry.
  void (*f64)(const csr<double, index_t, cview>& a, const stats& sizes, found_word* words, found_word* room);
  void (*f32)(const csr<float, index_t, cview>& a, const stats& sizes, found_word* words, found_word* room);
  /// Enqueues what asks for lengths: called where rows that are sorted in windows take fewer places. May be null.
  void (*windows)(const csr<std::int8_t, index_t, cview>& pattern, const stats& lengths, found_word* words);
  /// home: the words. May fetch from `room`.
  estimate_numbers (*numbers)(const stats& lengths, const found_word* home, const found_word* room);

  template <class V>
  void begin(const csr<V, index_t, cview>& a, const stats& sizes, found_word* to, found_word* beside) const {
    for_value<V>(f64, f32)(a, sizes, to, beside);
  }
};

/// All of them; the table is generated.
std::span<const gpu_format_look* const> gpu_format_looks();

} // namespace furrow
