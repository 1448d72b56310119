// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include "matrix/transpose.hpp"
#include "preconditioners/ic0/factor.hpp"
#include "preconditioners/ilu/levels.hpp"
#include "preconditioners/incomplete_lu.hpp"
#include "preconditioners/stoppable_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::schwarz_preconditioner {
namespace {

/// The rows and columns of b that are in `rows`.
row_matrix<double> block_of(row_view<double> b, const std::vector<std::int32_t>& rows) {
  const auto n = static_cast<index_t>(rows.size());
  row_matrix<double> block{{n, n}, host_array<index_t>(n + 1), {}, {}};
  const auto walk = [&](auto take) {
    index_t next = 0;
    for (index_t i = 0; i < n; ++i) {
      stops_set_up::at_row(i);
      block.row_ptr[i] = next;
      auto at = rows.begin();
      for (index_t k = b.begin(rows[i]); k < b.end(rows[i]); ++k) {
        at = std::lower_bound(at, rows.end(), b.col[k]);
        if (at == rows.end()) break;
        if (*at == b.col[k]) take(static_cast<std::int32_t>(at - rows.begin()), k, next++);
      }
    }
    block.row_ptr[n] = next;
  };
  walk([](std::int32_t, index_t, index_t) {});
  block.col.resize(block.row_ptr[n]);
  block.val.resize(block.row_ptr[n]);
  walk([&](std::int32_t column, index_t k, index_t to) {
    block.col[to] = column;
    block.val[to] = b.val[k];
  });
  return block;
}

/// Triangles beside their diagonals, and the inverses of those; `lower_inverse` is empty where it is ones.
struct triangles {
  row_matrix<double> lower, upper;
  host_array<double> lower_inverse, upper_inverse;
  index_t replaced = 0;
  double shift = 0;
};

triangles of_lu(const row_matrix<double>& block) {
  const lu_factors f = stable_factors(block.view(), [](row_view<double> b, double shift) {
    return ilu_preconditioner::factorise_by_levels(b, 0, shift);
  });
  triangles t{strict_part<double>(f, triangle::lower),
              strict_part<double>(f, triangle::upper),
              {},
              host_array<double>(block.shape.rows),
              f.replaced,
              f.shift};
  for (index_t i = 0; i < block.shape.rows; ++i) t.upper_inverse[i] = 1 / f.rows.val[f.pivot[i]];
  return t;
}

triangles of_cholesky(const row_matrix<double>& block) {
  const host_array<double> ones(block.shape.rows, 1.0);
  auto [f, shift] =
      ic0_preconditioner::factorise_shifted(ic0_preconditioner::scaled_lower_part(block.view(), as_cview(ones)));
  auto upper = transposed(f.beside.view());
  return {std::move(f.beside), std::move(upper), f.inverse_diagonal, f.inverse_diagonal, 0, shift};
}

/// One of the triangles of all blocks as one matrix.
template <class V>
row_matrix<V> joined(const std::vector<triangles>& all, row_matrix<double> triangles::*which,
                     const std::vector<index_t>& begin) {
  const index_t n = begin.back();
  row_matrix<V> one{{n, n}, host_array<index_t>(n + 1), {}, {}};
  one.row_ptr[0] = 0;
  index_t row = 0;
  for (const triangles& t : all)
    for (index_t i = 0; i < (t.*which).shape.rows; ++i, ++row)
      one.row_ptr[row + 1] = one.row_ptr[row] + (t.*which).row_ptr[i + 1] - (t.*which).row_ptr[i];
  one.col.resize(one.row_ptr[n]);
  one.val.resize(one.row_ptr[n]);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const row_matrix<double>& t = all[k].*which;
    const index_t to = one.row_ptr[begin[k]];
    for (index_t e = 0; e < t.nnz(); ++e) {
      one.col[to + e] = static_cast<std::int32_t>(begin[k] + t.col[e]);
      one.val[to + e] = static_cast<V>(t.val[e]);
    }
  }
  return one;
}

template <class V>
host_array<V> joined(const std::vector<triangles>& all, host_array<double> triangles::*which, index_t n) {
  host_array<V> one(all.empty() || (all.front().*which).empty() ? 0 : n);
  index_t to = 0;
  for (const triangles& t : all)
    for (const double v : t.*which) {
      one[to] = static_cast<V>(v);
      if (!std::isfinite(one[to]) || one[to] == 0)
        throw refusal{status::breakdown,
                      fmt::format("the inverse {:.3g} of a pivot of schwarz is out of range: scale the matrix", v)};
      ++to;
    }
  return one;
}

template <class V> class block_factors final : public any_preconditioner<V> {
public:
  explicit block_factors(blocks<V> b) : b_(std::move(b)) {}
  void apply(cview<V> r, view<V> z) const override {
    const auto& f = b_.factors;
    cpu::for_each_task(index_t(b_.begin.size()) - 1, [&](index_t k) {
      const index_t first = b_.begin[std::size_t(k)], last = b_.begin[std::size_t(k) + 1];
      for (index_t i = first; i < last; ++i) take(f.lower, f.lower_inverse, i, r[i], z);
      for (index_t i = last; i-- > first;) take(f.upper, f.upper_inverse, i, z[i], z);
    });
  }
  double stored_bytes() const override {
    const auto& f = b_.factors;
    const auto of = [](const row_matrix<V>& t) {
      return double(t.row_ptr.byte_count() + t.col.byte_count() + t.val.byte_count());
    };
    return of(f.lower) + of(f.upper) + double(f.lower_inverse.byte_count() + f.upper_inverse.byte_count());
  }

private:
  static void take(const row_matrix<V>& t, const host_array<V>& inverse, index_t i, V sum, view<V> z) {
    for (index_t e = t.row_ptr[i]; e < t.row_ptr[i + 1]; ++e) sum -= t.val[e] * z[t.col[e]];
    z[i] = inverse.empty() ? sum : sum * inverse[i];
  }
  blocks<V> b_;
};

} // namespace

template <class V> blocks<V> factorise(row_view<double> b, const subdomains& s, bool symmetric) {
  std::vector<triangles> all(s.parts.size());
  for_each_stoppable(index_t(all.size()), [&] {
    return [&](index_t k) {
      const row_matrix<double> block = block_of(b, s.parts[std::size_t(k)].rows);
      all[std::size_t(k)] = symmetric ? of_cholesky(block) : of_lu(block);
    };
  });
  blocks<V> joint{{}, {0}, {}};
  index_t replaced = 0;
  double shift = 0;
  for (const triangles& t : all) {
    joint.begin.push_back(joint.begin.back() + t.lower.shape.rows);
    replaced += t.replaced;
    shift = std::max(shift, t.shift);
  }
  if (shift > 0) joint.about += fmt::format("; diagonals shifted by up to {:g}", shift);
  if (replaced > 0)
    joint.about += fmt::format("; {} pivot{} too small and replaced", replaced, replaced == 1 ? " was" : "s were");
  const index_t n = joint.begin.back();
  joint.factors.lower = joined<V>(all, &triangles::lower, joint.begin);
  joint.factors.upper = joined<V>(all, &triangles::upper, joint.begin);
  joint.factors.lower_inverse = joined<V>(all, &triangles::lower_inverse, n);
  joint.factors.upper_inverse = joined<V>(all, &triangles::upper_inverse, n);
  return joint;
}

template <class V> std::unique_ptr<any_preconditioner<V>> factored_by_blocks(blocks<V> b) {
  return std::make_unique<block_factors<V>>(std::move(b));
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template blocks<V> factorise(row_view<double>, const subdomains&, bool);                                             \
  template std::unique_ptr<any_preconditioner<V>> factored_by_blocks(blocks<V>)
FURROW_INSTANTIATE(double);
FURROW_INSTANTIATE(float);
#undef FURROW_INSTANTIATE

} // namespace furrow::schwarz_preconditioner
