// SPDX-License-Identifier: BSD-3-Clause
#include "cut.hpp"
#include "inverse.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/blocks.hpp"
#include "core/parameters.hpp"
#include "matrix/rows.hpp"
#include "preconditioners/stoppable_tasks.hpp"
#include "preconditioners/stored_product.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace furrow::block_jacobi_preconditioner {
namespace {

constexpr index_t usual = 8; ///< edge

/// M = the inverses of the blocks on the diagonal. An application reads k values a row of a block of k rows and takes
/// no memory; blocks are shared by the threads.
template <class V> class block_diagonal final : public any_preconditioner<V> {
public:
  block_diagonal(host_array<V> inverses, cut blocks, std::string about)
      : inverses_(std::move(inverses)), blocks_(std::move(blocks)), about_(std::move(about)) {}
  void apply(cview<V> r, view<V> z) const override {
    const index_t places = inverses_.size() / std::max<index_t>(blocks_.count(), 1);
    cpu::for_each_range(blocks_.count(), std::max<index_t>(8192 / std::max<index_t>(places, 1), 1),
                        [&](index_t b, index_t end) {
                          for (; b < end; ++b) {
                            const index_t begin = blocks_.begin(b), k = blocks_.size(b);
                            const V* row = inverses_.data() + blocks_.place(b);
                            for (index_t i = 0; i < k; ++i, row += k) {
                              V sum = 0;
                              for (index_t j = 0; j < k; ++j) sum += row[j] * r[begin + j];
                              z[begin + i] = sum;
                            }
                          }
                        });
  }
  double stored_bytes() const override { return double(inverses_.byte_count()) + blocks_.bytes(); }
  std::string describe() const override { return about_; }

private:
  host_array<V> inverses_; ///< by rows
  cut blocks_;
  std::string about_;
};

/// The edge, 0 where it is to be found; or `starts`.
struct request {
  index_t edge;
  std::optional<std::string_view> starts;
};
request taken_apart(std::string_view text) {
  const entry_parameters p("block_jacobi[:K|:starts=FILE]", text);
  const request q{p.whole(0, 0, 1, most_rows), p.named("starts")};
  if (q.starts && p.has(0)) p.refuse("blocks are of K rows, or start where they are said to");
  return q;
}

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
template <class V> coo<V> triplets_of(const host_array<V>& inverses, const cut& blocks) {
  const index_t n = blocks.rows();
  coo<V> m{{n, n}, host_array<std::int32_t>(inverses.size()), host_array<std::int32_t>(inverses.size()), {}};
  cpu::for_each_range(blocks.count(), 512, [&](index_t b, index_t last) {
    for (; b < last; ++b) {
      const index_t begin = blocks.begin(b), k = blocks.size(b);
      for (index_t i = 0; i < k; ++i)
        for (index_t j = 0, at = blocks.place(b) + i * k; j < k; ++j, ++at) {
          m.row[at] = static_cast<std::int32_t>(begin + i);
          m.col[at] = static_cast<std::int32_t>(begin + j);
        }
    }
  });
  m.val = host_array<V>(inverses);
  return m;
}

std::string about_sizes(const cut& blocks) {
  if (!blocks.given()) return fmt::format("blocks of {0} x {0}", blocks.count() > 0 ? blocks.edge() : 0);
  index_t least = most_rows, most = 0;
  for (index_t b = 0; b < blocks.count(); ++b) {
    least = std::min(least, blocks.size(b));
    most = std::max(most, blocks.size(b));
  }
  return fmt::format("{} given blocks of {} to {} rows", blocks.count(), least, most);
}

/// Says of blocks what ends the set-up: one that proves A not definite, or one that was given and has no inverse.
void refuse_blocks(const cut& blocks, const std::vector<outcome>& how) {
  const auto indefinite = std::ranges::find(how, outcome::indefinite);
  if (indefinite != how.end()) {
    const index_t b = indefinite - how.begin();
    throw refusal{status::not_positive_definite,
                  fmt::format("the {0} x {0} block of the diagonal from row {1} on is not positive definite, so A is "
                              "not",
                              blocks.given() ? blocks.size(b) : blocks.edge(), blocks.begin(b) + 1)};
  }
  const auto singular = std::ranges::find(how, outcome::replaced);
  if (!blocks.given() || singular == how.end()) return;
  const index_t b = singular - how.begin();
  throw refusal{
      status::breakdown,
      fmt::format("block {} of block_jacobi, the {} rows from {} on counted from 0, is singular: cut the rows "
                  "elsewhere",
                  b + 1, blocks.size(b), blocks.begin(b))};
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  if (needed.m.definite && !needed.a.definite)
    throw error(fault::usage, "block_jacobi is positive definite only where the matrix is, which this solver does not "
                              "ask for: take jacobi");
  const request q = taken_apart(text);
  const index_t n = a.shape.rows;
  cut blocks = q.starts ? cut_by_starts(*q.starts, n) : cut(n, q.edge ? q.edge : found_edge(a));
  stops_set_up::at_row(0);
  const rows_of_triplets<V> rows(a);
  host_array<V> inverses(blocks.places());
  std::vector<outcome> how(static_cast<std::size_t>(blocks.count()), outcome::inverted);
  constexpr index_t at_once = 64;
  const auto invert_some = [&](index_t first, index_t last) {
    std::array<double, most_rows * most_rows> block, scratch;
    for (index_t b = first; b < last; ++b) {
      const index_t k = blocks.size(b);
      const view<double> own{block.data(), k * k};
      how[b] = block_inverse(rows.view(), blocks.begin(b), k, needed, own, {scratch.data(), k * k});
      std::ranges::transform(own, inverses.data() + blocks.place(b), [](double v) { return static_cast<V>(v); });
    }
  };
  for_each_stoppable((blocks.count() + at_once - 1) / at_once, [&] {
    return [&](index_t k) { invert_some(k * at_once, std::min(blocks.count(), (k + 1) * at_once)); };
  });
  refuse_blocks(blocks, how);
  if (!std::ranges::all_of(inverses, [](V v) { return std::isfinite(v); }))
    throw refusal{status::breakdown, "the inverse of a block overflows: scale the matrix"};
  std::string about = "block_jacobi: " + about_sizes(blocks);
  if (const auto replaced = std::ranges::count(how, outcome::replaced))
    about += fmt::format("; {} of {} are singular and replaced by their diagonal", replaced, blocks.count());
  if (where.is_gpu()) return make_stored_product<V>(triplets_of(inverses, blocks), {}, where, std::move(about));
  return std::make_unique<block_diagonal<V>>(std::move(inverses), std::move(blocks), std::move(about));
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const request q = taken_apart(text);
  const double n = double(s.shape.rows);
  if (q.starts) {
    const cut blocks = cut_by_starts(*q.starts, s.shape.rows);
    const double kept = bytes_of(p) * double(blocks.places()) + blocks.bytes();
    return {kept, kept + 9 * n + 8, true};
  }
  const double kept = bytes_of(p) * n * double(q.edge ? q.edge : usual);
  return {kept, kept + 9 * n + 8, q.edge != 0};
}

} // namespace

extern const preconditioner_entry entry{
    .name = "block_jacobi",
    .about = "inverses of the blocks on the diagonal, K x K or given by their first rows",
    .keeps = {true, true},
    .lay_out = lay_out,
    .f64 = make<double>,
    .f32 = make<float>,
    .parameters = "[:K|:starts=FILE]",
    .definite_only_with_a = true};

} // namespace furrow::block_jacobi_preconditioner
