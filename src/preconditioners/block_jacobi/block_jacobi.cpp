// SPDX-License-Identifier: BSD-3-Clause
#include "inverse.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/blocks.hpp"
#include "core/parameters.hpp"
#include "matrix/rows.hpp"
#include "preconditioners/stored_product.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace furrow::block_jacobi_preconditioner {
namespace {

constexpr index_t most = 64, usual = 8; ///< edges

/// M = the inverses of the K x K blocks on the diagonal, the last one smaller. An application reads K values a row and
/// takes no memory; blocks are shared by the threads.
template <class V> class block_diagonal final : public any_preconditioner<V> {
public:
  block_diagonal(host_array<V> inverses, index_t edge, std::string about)
      : inverses_(std::move(inverses)), edge_(edge), about_(std::move(about)) {}
  void apply(cview<V> r, view<V> z) const override {
    const index_t n = r.size;
    cpu::for_each_range((n + edge_ - 1) / edge_, std::max<index_t>(8192 / (edge_ * edge_), 1),
                        [&](index_t b, index_t end) {
                          for (; b < end; ++b) {
                            const index_t begin = b * edge_, k = std::min(edge_, n - begin);
                            const V* row = inverses_.data() + begin * edge_;
                            for (index_t i = 0; i < k; ++i, row += k) {
                              V sum = 0;
                              for (index_t j = 0; j < k; ++j) sum += row[j] * r[begin + j];
                              z[begin + i] = sum;
                            }
                          }
                        });
  }
  double stored_bytes() const override { return double(inverses_.byte_count()); }
  std::string describe() const override { return about_; }

private:
  host_array<V> inverses_; ///< block b from b K^2 on, by rows
  index_t edge_;
  std::string about_;
};

index_t asked_edge(std::string_view text) { return entry_parameters("block_jacobi[:K]", text).whole(0, 0, 1, most); }

/// The largest of the edges whose blocks have the fewest places, if those are few; otherwise `usual`.
template <class V> index_t found_edge(const coo<V>& a) {
  const auto blocks = count_blocks(a.shape, as_cview(a.row), as_cview(a.col));
  index_t best = usual;
  double fewest = 1.2 * double(a.nnz());
  for (index_t k = least_edge; k <= most_edge; ++k) {
    const double places = double(blocks[k]) * double(k * k);
    if (blocks[k] < 0 || places > fewest) continue;
    fewest = places;
    best = k;
  }
  return best;
}

enum class outcome : char { inverted, replaced, indefinite };

/// The block from row `begin` on, and its inverse in `block`; its diagonal's where it has none.
template <class V>
outcome block_inverse(row_view<V> a, index_t begin, index_t k, solver_needs needed, view<double> block,
                      view<double> scratch) {
  const auto gather = [&] {
    std::fill(block.begin(), block.end(), 0);
    for (index_t i = 0; i < k; ++i)
      for (index_t e = a.begin(begin + i); e < a.end(begin + i); ++e)
        if (a.col[e] >= begin && a.col[e] < begin + k) block[i * k + a.col[e] - begin] = double(a.val[e]);
  };
  gather();
  if (needed.a.definite && !is_definite(block, k, scratch)) return outcome::indefinite;
  if (invert(block, k)) {
    for (index_t i = 0; i < k && needed.a.symmetric; ++i) // rounding leaves no asymmetry
      for (index_t j = 0; j < i; ++j) block[i * k + j] = block[j * k + i] = (block[i * k + j] + block[j * k + i]) / 2;
    return outcome::inverted;
  }
  gather();
  for (index_t i = 0; i < k; ++i)
    for (index_t j = 0; j < k; ++j)
      if (i != j) block[i * k + j] = 0;
      else block[i * k + i] = block[i * k + i] == 0 ? 1 : 1 / block[i * k + i];
  return outcome::replaced;
}

/// The blocks as a matrix, for a GPU: in the format that `auto` takes there.
template <class V> coo<V> triplets_of(const host_array<V>& inverses, index_t n, index_t edge) {
  coo<V> m{{n, n}, host_array<std::int32_t>(inverses.size()), host_array<std::int32_t>(inverses.size()), {}};
  cpu::for_each_range(n, 4096, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      const index_t begin = i / edge * edge, k = std::min(edge, n - begin), at = begin * edge + (i - begin) * k;
      for (index_t j = 0; j < k; ++j) {
        m.row[at + j] = static_cast<std::int32_t>(i);
        m.col[at + j] = static_cast<std::int32_t>(begin + j);
      }
    }
  });
  m.val = host_array<V>(inverses);
  return m;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  if (needed.m.definite && !needed.a.definite)
    throw error(fault::usage, "block_jacobi is positive definite only where the matrix is, which this solver does not "
                              "ask for: take jacobi");
  const index_t asked = asked_edge(text), edge = asked ? asked : found_edge(a), n = a.shape.rows;
  const index_t blocks = (n + edge - 1) / edge;
  const rows_of_triplets<V> rows(a);
  host_array<V> inverses(blocks > 0 ? (blocks - 1) * edge * edge + (n - (blocks - 1) * edge) * (n - (blocks - 1) * edge)
                                    : 0);
  std::vector<outcome> how(static_cast<std::size_t>(blocks), outcome::inverted);
  cpu::for_each_range(blocks, 64, [&](index_t first, index_t last) {
    std::array<double, most * most> block, scratch;
    for (index_t b = first; b < last; ++b) {
      const index_t begin = b * edge, k = std::min(edge, n - begin);
      const view<double> own{block.data(), k * k};
      how[b] = block_inverse(rows.view(), begin, k, needed, own, {scratch.data(), k * k});
      std::ranges::transform(own, inverses.data() + begin * edge, [](double v) { return static_cast<V>(v); });
    }
  });
  const auto indefinite = std::ranges::find(how, outcome::indefinite);
  if (indefinite != how.end())
    throw refusal{
        status::not_positive_definite,
        fmt::format("the {0} x {0} block of the diagonal from row {1} on is not positive definite, so A is not", edge,
                    (indefinite - how.begin()) * edge + 1)};
  if (!std::ranges::all_of(inverses, [](V v) { return std::isfinite(v); }))
    throw refusal{status::breakdown, "the inverse of a block overflows: scale the matrix"};
  std::string about = fmt::format("block_jacobi: blocks of {0} x {0}", edge);
  if (const auto replaced = std::ranges::count(how, outcome::replaced))
    about += fmt::format("; {} of {} are singular and replaced by their diagonal", replaced, blocks);
  if (where.is_gpu()) return make_stored_product<V>(triplets_of(inverses, n, edge), {}, where, std::move(about));
  return std::make_unique<block_diagonal<V>>(std::move(inverses), edge, std::move(about));
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const index_t asked = asked_edge(text);
  const double n = double(s.shape.rows), kept = bytes_of(p) * n * double(asked ? asked : usual);
  return {kept, kept + 9 * n + 8, asked != 0};
}

} // namespace

extern const preconditioner_entry entry{
    "block_jacobi", "inverses of the blocks on the diagonal", {true, true}, lay_out, make<double>, make<float>, "[:K]"};

} // namespace furrow::block_jacobi_preconditioner
