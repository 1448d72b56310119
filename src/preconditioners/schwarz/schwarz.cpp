// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "preconditioners/stored_product.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace furrow::schwarz_preconditioner {
namespace {

struct asked {
  index_t subdomains, overlap;
};

/// Without a number: 1000 rows a subdomain, 64 subdomains at most, so that threads have enough of them.
asked asked_for(std::string_view text, index_t rows) {
  constexpr index_t most = 1 << 20, usual = 64, usual_rows = 1000;
  const entry_parameters p("schwarz[:SUBDOMAINS[:OVERLAP]]", text);
  const index_t subdomains = p.whole(0, std::min(rows / usual_rows, usual), 1, most);
  return {std::clamp<index_t>(subdomains, 1, std::max<index_t>(rows, 1)), p.whole(1, 1, 0, 100)};
}

/// M = E F^-1 R: R takes each part its rows, F^-1 solves within the parts, E puts them back. One application at a time.
template <class V, class Array> class over_parts final : public any_preconditioner<V> {
public:
  over_parts(std::unique_ptr<any_operator<V>> take, std::unique_ptr<any_preconditioner<V>> within,
             std::unique_ptr<any_operator<V>> put, std::string about)
      : take_(std::move(take)), put_(std::move(put)), within_(std::move(within)), about_(std::move(about)),
        given_(take_->shape().rows), result_(take_->shape().rows) {}
  void apply(cview<V> r, view<V> z) const override {
    take_->apply(V(1), r, V(0), as_view(given_));
    within_->apply(as_cview(given_), as_view(result_));
    put_->apply(V(1), as_cview(result_), V(0), z);
  }
  double stored_bytes() const override {
    return take_->stored_bytes() + within_->stored_bytes() + put_->stored_bytes() +
           double(given_.byte_count() + result_.byte_count());
  }
  std::string describe() const override { return about_; }

private:
  std::unique_ptr<any_operator<V>> take_, put_;
  std::unique_ptr<any_preconditioner<V>> within_;
  std::string about_;
  mutable Array given_, result_;
};

/// R: row e holds the scale of the row of A that the e-th row of the parts is.
template <class V> coo<V> taking(const subdomains& s, const host_array<double>& scale, index_t extended) {
  coo<V> r{{extended, s.order.size()},
           host_array<std::int32_t>(extended),
           host_array<std::int32_t>(extended),
           host_array<V>(extended)};
  index_t e = 0;
  for (const auto& part : s.parts)
    for (const std::int32_t row : part.rows) {
      r.row[e] = static_cast<std::int32_t>(e);
      r.col[e] = s.order[row];
      r.val[e++] = scale.empty() ? V(1) : static_cast<V>(scale[s.order[row]]);
    }
  return r;
}

/// R' without the rows that parts do not own, where `restricted`.
template <class V> coo<V> putting(const subdomains& s, const coo<V>& take, bool restricted) {
  const index_t n = take.shape.cols;
  std::vector<index_t> next(static_cast<std::size_t>(n) + 1, 0);
  const auto walk = [&](auto each) {
    index_t e = 0;
    for (const auto& part : s.parts)
      for (const std::int32_t row : part.rows) {
        if (!restricted || (row >= part.first && row < part.last)) each(take.col[e], e);
        ++e;
      }
  };
  walk([&](std::int32_t row, index_t) { ++next[std::size_t(row) + 1]; });
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  const index_t entries = next.back();
  coo<V> put{{n, take.shape.rows},
             host_array<std::int32_t>(entries),
             host_array<std::int32_t>(entries),
             host_array<V>(entries)};
  walk([&](std::int32_t row, index_t e) {
    const index_t to = next[std::size_t(row)]++;
    put.row[to] = row;
    put.col[to] = static_cast<std::int32_t>(e);
    put.val[to] = take.val[e];
  });
  return put;
}

/// Throws `fault::memory` where the blocks, their factors and those in one piece cannot be had.
template <class V> void must_fit(row_view<V> a, const subdomains& s) {
  double entries = 0;
  for (const auto& part : s.parts)
    for (const std::int32_t row : part.rows) entries += double(a.end(s.order[row]) - a.begin(s.order[row]));
  const double bytes = 3 * 12 * entries, available = double(available_host_memory());
  check(bytes <= available, fault::memory,
        "the subdomains of schwarz take {:.3g} GB, of {:.3g} GB that can be had: take fewer of them or less overlap",
        bytes * 1e-9, available * 1e-9);
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  const asked wanted = asked_for(text, a.shape.rows);
  const bool symmetric = needed.m.symmetric || needed.transposed;
  const rows_of_triplets<V> rows(a);
  host_array<double> scale;
  if (symmetric) scale = symmetric_scaling(rows.view(), needed.a.definite, "schwarz");
  subdomains s = cut(neighbours_of(rows.view()), wanted.subdomains, wanted.overlap);
  index_t extended = 0;
  for (const auto& part : s.parts) extended += index_t(part.rows.size());
  must_fit(rows.view(), s);
  const arrangement moved{host_array<std::int32_t>(s.order), inverse_permutation(as_cview(s.order)), scale, scale};
  blocks<V> within = factorise<V>(arranged(rows.view(), moved).view(), s, symmetric);
  std::string about =
      fmt::format("schwarz: {} subdomain{}, overlap {}, {}, {:.2f} times the rows{}", wanted.subdomains,
                  wanted.subdomains == 1 ? "" : "s", wanted.overlap, symmetric ? "symmetric" : "restricted",
                  double(extended) / double(std::max<index_t>(a.shape.rows, 1)), within.about);
  coo<V> take = taking<V>(s, scale, extended), put = putting(s, take, !symmetric);
  auto first = in_best_format(std::move(take), where), last = in_best_format(std::move(put), where);
  if (where.is_gpu())
    return std::make_unique<over_parts<V, gpu_array<V>>>(std::move(first), factored_on_gpu(std::move(within.factors)),
                                                         std::move(last), std::move(about));
  return std::make_unique<over_parts<V, host_array<V>>>(std::move(first), factored_by_blocks(std::move(within)),
                                                        std::move(last), std::move(about));
}

/// Each layer of overlap is taken to widen the parts by a tenth.
preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const double n = double(s.shape.rows), nnz = double(s.nnz);
  const double wider = 1 + 0.1 * double(asked_for(text, s.shape.rows).overlap), each = 4 + bytes_of(p);
  const double kept = wider * (each * nnz + n * (2 * 8 + 2 * (8 + each) + 3 * bytes_of(p)));
  return {kept, kept + wider * (2 * 12 * (nnz + n)) + 12 * nnz + 40 * n, false};
}

} // namespace

extern const preconditioner_entry entry{"schwarz",
                                        "additive Schwarz: overlapping subdomains, incomplete factors in each",
                                        {true, true},
                                        lay_out,
                                        make<double>,
                                        make<float>,
                                        "[:SUBDOMAINS[:OVERLAP]]"};

} // namespace furrow::schwarz_preconditioner
