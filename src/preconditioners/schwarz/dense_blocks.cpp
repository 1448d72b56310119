// SPDX-License-Identifier: BSD-3-Clause
#include "dense_blocks.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "preconditioners/block_jacobi/inverse.hpp"
#include "preconditioners/stoppable_tasks.hpp"
#include "preconditioners/stored_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace furrow::schwarz_preconditioner {
namespace {

/// One block, by rows, with `shift` times the size of each row added to its diagonal, away from 0.
class dense_block {
public:
  dense_block(row_view<double> b, const std::vector<std::int32_t>& rows)
      : k_(index_t(rows.size())), block_(rows.size() * rows.size(), 0.0), size_(rows.size(), 0.0) {
    for (index_t i = 0; i < k_; ++i) {
      auto at = rows.begin();
      for (index_t e = b.begin(rows[i]); e < b.end(rows[i]); ++e) {
        at = std::lower_bound(at, rows.end(), b.col[e]);
        if (at == rows.end()) break;
        if (*at != b.col[e]) continue;
        block_[i * k_ + (at - rows.begin())] = b.val[e];
        size_[i] = std::max(size_[i], std::abs(b.val[e]));
      }
    }
  }

  /// Its inverse; false where there is none that is good, or it is not definite though it must be.
  bool inverse(double shift, bool definite, std::vector<double>& to) const {
    to = block_;
    for (index_t i = 0; i < k_; ++i)
      to[i * k_ + i] += std::copysign(shift * (size_[i] > 0 ? size_[i] : 1), to[i * k_ + i]);
    if (definite) {
      std::vector<double> scratch(to.size());
      if (!block_jacobi_preconditioner::is_definite(to, k_, scratch)) return false;
    }
    if (!block_jacobi_preconditioner::invert(to, k_) || !(growth(to) <= most_growth)) return false;
    for (index_t i = 0; i < k_ && definite; ++i) // rounding leaves no asymmetry
      for (index_t j = 0; j < i; ++j) to[i * k_ + j] = to[j * k_ + i] = (to[i * k_ + j] + to[j * k_ + i]) / 2;
    return true;
  }

private:
  static constexpr double most_growth = 1e8;

  /// The largest sum_j |inverse_ij| s_j c_i, s_j the size of row j, c_i that of column i once rows have size 1.
  double growth(const std::vector<double>& inverse) const {
    std::vector<double> column(size_.size(), 0.0);
    for (index_t i = 0; i < k_; ++i)
      for (index_t j = 0; j < k_ && size_[i] > 0; ++j)
        column[j] = std::max(column[j], std::abs(block_[i * k_ + j]) / size_[i]);
    double most = 0;
    for (index_t i = 0; i < k_; ++i) {
      double sum = 0;
      for (index_t j = 0; j < k_; ++j) sum += std::abs(inverse[i * k_ + j]) * (size_[j] > 0 ? size_[j] : 1);
      sum *= column[i] > 0 ? column[i] : 1;
      if (!(sum <= most)) most = sum; // keeps a NaN
      if (std::isnan(most)) return most;
    }
    return most;
  }

  index_t k_;
  std::vector<double> block_, size_;
};

template <class V> class block_products final : public any_preconditioner<V> {
public:
  explicit block_products(dense_blocks<V> d) : d_(std::move(d)) {}
  void apply(cview<V> r, view<V> z) const override {
    cpu::for_each_task(index_t(d_.begin.size()) - 1, [&](index_t b) {
      const index_t first = d_.begin[std::size_t(b)], k = d_.begin[std::size_t(b) + 1] - first;
      const V* column = d_.inverses.data() + d_.place[std::size_t(b)];
      V* const to = z.data + first;
      std::fill_n(to, k, V(0));
      for (index_t j = 0; j < k; ++j, column += k) {
        const V factor = r[first + j];
        for (index_t i = 0; i < k; ++i) to[i] += column[i] * factor;
      }
    });
  }
  double stored_bytes() const override {
    return double(d_.inverses.byte_count()) + 8 * double(d_.begin.size() + d_.place.size());
  }

private:
  dense_blocks<V> d_;
};

/// The inverses as one matrix.
template <class V> coo<V> triplets_of(const dense_blocks<V>& d) {
  const index_t n = d.begin.back(), entries = d.place.back();
  coo<V> m{{n, n}, host_array<std::int32_t>(entries), host_array<std::int32_t>(entries), host_array<V>(entries)};
  cpu::for_each_task(index_t(d.begin.size()) - 1, [&](index_t b) {
    const index_t first = d.begin[std::size_t(b)], k = d.begin[std::size_t(b) + 1] - first;
    const index_t from = d.place[std::size_t(b)];
    for (index_t i = 0; i < k; ++i)
      for (index_t j = 0; j < k; ++j) {
        m.row[from + i * k + j] = static_cast<std::int32_t>(first + i);
        m.col[from + i * k + j] = static_cast<std::int32_t>(first + j);
        m.val[from + i * k + j] = d.inverses[from + j * k + i];
      }
  });
  return m;
}

} // namespace

template <class V> void must_be_small(const subdomains& s, device where) {
  double entries = 0, longest = 0;
  for (std::size_t p = 0; p < s.parts.size(); ++p) {
    const auto k = index_t(s.parts[p].rows.size());
    check(
        k <= most_dense_rows, fault::usage,
        "subdomain {} of schwarz has {} rows with its overlap, dense ones have {} at most: take more subdomains, less "
        "overlap, or inside=ilu",
        p + 1, k, most_dense_rows);
    entries += double(k) * double(k);
    longest = std::max(longest, double(k));
  }
  const double each = sizeof(V) + (where.is_gpu() ? 8.0 + sizeof(V) : 0.0);
  const double bytes = each * entries + 3 * 8 * longest * longest * double(cpu::thread_count());
  const double available = double(available_host_memory());
  check(bytes <= available, fault::memory,
        "the dense subdomains of schwarz take {:.3g} GB, of {:.3g} GB that can be had: take more of them, which are "
        "smaller, less overlap, or inside=ilu",
        bytes * 1e-9, available * 1e-9);
}

template <class V> dense_blocks<V> invert_blocks(row_view<double> b, const subdomains& s, bool symmetric) {
  dense_blocks<V> d{{}, {0}, {0}, {}};
  for (const auto& part : s.parts) {
    const auto k = index_t(part.rows.size());
    d.begin.push_back(d.begin.back() + k);
    d.place.push_back(d.place.back() + k * k);
  }
  d.inverses.resize(d.place.back());
  std::vector<double> shifts(s.parts.size(), 0.0);
  std::atomic<bool> in_range = true;
  const auto invert_one = [&](index_t p) {
    const auto& rows = s.parts[std::size_t(p)].rows;
    const auto k = index_t(rows.size());
    const dense_block block(b, rows);
    std::vector<double> inverse;
    double& shift = shifts[std::size_t(p)];
    while (!block.inverse(shift, symmetric, inverse)) {
      if (shift > 1e12)
        throw refusal{status::breakdown, "no shift of the diagonal makes a subdomain of schwarz regular"};
      shift = std::max(1e-3, 10 * shift);
    }
    V* const to = d.inverses.data() + d.place[std::size_t(p)];
    for (index_t j = 0; j < k; ++j)
      for (index_t i = 0; i < k; ++i) {
        to[j * k + i] = static_cast<V>(inverse[i * k + j]);
        if (!std::isfinite(to[j * k + i])) in_range = false;
      }
  };
  for_each_stoppable(index_t(s.parts.size()), [&] { return invert_one; });
  if (!in_range) throw refusal{status::breakdown, "the inverse of a subdomain of schwarz overflows: scale the matrix"};
  if (const double shift = s.parts.empty() ? 0 : *std::ranges::max_element(shifts); shift > 0)
    d.about = fmt::format("; diagonals shifted by up to {:g}", shift);
  return d;
}

template <class V> std::unique_ptr<any_preconditioner<V>> multiplied_by_blocks(dense_blocks<V> d, device where) {
  if (where.is_gpu()) return make_stored_product<V>(triplets_of(d), {}, where, {});
  return std::make_unique<block_products<V>>(std::move(d));
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template void must_be_small<V>(const subdomains&, device);                                                           \
  template dense_blocks<V> invert_blocks(row_view<double>, const subdomains&, bool);                                   \
  template std::unique_ptr<any_preconditioner<V>> multiplied_by_blocks(dense_blocks<V>, device)
FURROW_INSTANTIATE(double);
FURROW_INSTANTIATE(float);
#undef FURROW_INSTANTIATE

} // namespace furrow::schwarz_preconditioner
