// SPDX-License-Identifier: BSD-3-Clause
#include "exact_residual.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/host_room.hpp"
#include "core/row_offsets.hpp"
#include "core/wide_sum.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace furrow {
namespace {

constexpr index_t rows_of_a_block = 4096; // squares are added block by block: the same bits for any number of threads

} // namespace

template <class V>
std::optional<exact_residual<V>> residual_beyond_rounding(const any_operator<V>& a, cview<V> b, cview<V> x,
                                                          communicator* ranks) {
  constexpr double most_places = 4; // bytes of triplets over bytes of the leanest format, a dense one in f32
  const auto* const reaching = ranks ? dynamic_cast<const reaches_other_ranks<V>*>(&a) : nullptr;
  std::optional<coo<V>> triplets;
  if (host_room().takes(most_places * a.stored_bytes())) triplets = a.to_triplets();
  if (ranks ? ranks->any(!triplets || !reaching) : !triplets) return {};
  host_array<V> wide;
  if (reaching) wide = reaching->with_others(x), x = as_cview(wide);
  const index_t n = b.size, blocks = (n + rows_of_a_block - 1) / rows_of_a_block;
  const auto row_ptr = offsets_of_rows<index_t>(triplets->row, n);
  exact_residual<V> result{0, 0, host_array<V>(n)};
  std::vector<double> squares(static_cast<std::size_t>(blocks), 0.0), squares_of_terms = squares;
  cpu::for_each_task(blocks, [&](index_t block) {
    cpu::widest([&]() FURROW_INLINE {
      double share = 0, share_of_terms = 0;
      const index_t last = std::min(n, (block + 1) * rows_of_a_block);
      for (index_t row = block * rows_of_a_block; row < last; ++row) {
        wide_sum<V> sum(b[row]);
        double terms = std::abs(double(b[row]));
        for (index_t k = row_ptr[row]; k < row_ptr[row + 1]; ++k) {
          const V a_k = triplets->val[k], x_k = x[triplets->col[k]];
          sum.subtract(a_k, x_k);
          terms += std::abs(double(a_k) * double(x_k));
        }
        const double r = sum.value();
        result.r[row] = static_cast<V>(r);
        share += r * r;
        share_of_terms += terms * terms;
      }
      squares[static_cast<std::size_t>(block)] = share;
      squares_of_terms[static_cast<std::size_t>(block)] = share_of_terms;
    });
  });
  const auto norm_of = [&](const std::vector<double>& shares) {
    const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
    return std::sqrt(ranks ? ranks->sum(total) : total);
  };
  result.norm = norm_of(squares);
  result.terms = norm_of(squares_of_terms);
  return result;
}

template std::optional<exact_residual<double>> residual_beyond_rounding(const any_operator<double>&, cview<double>,
                                                                        cview<double>, communicator*);
template std::optional<exact_residual<float>> residual_beyond_rounding(const any_operator<float>&, cview<float>,
                                                                       cview<float>, communicator*);

} // namespace furrow
