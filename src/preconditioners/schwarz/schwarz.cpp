// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"
#include "dense_blocks.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "preconditioners/stop.hpp"
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
  bool dense;
};

/// Without a number: 1000 rows a subdomain, 64 subdomains at most, so that threads have enough of them; 100 rows where
/// they are dense, so that an inverse is a hundred times its rows.
asked asked_for(std::string_view text, index_t rows) {
  constexpr index_t most = 1 << 20, usual = 64, usual_rows = 1000, usual_dense_rows = 100;
  const entry_parameters p("schwarz[:SUBDOMAINS[:OVERLAP]][:inside=ilu|dense]", text);
  const auto inside = p.named("inside").value_or("ilu");
  const bool dense = inside == "dense";
  if (!dense && inside != "ilu") p.refuse("what is inside a subdomain is ilu or dense");
  const index_t some = dense ? std::min(rows / usual_dense_rows, most) : std::min(rows / usual_rows, usual);
  const index_t subdomains = p.whole(0, some, 1, most);
  return {std::clamp<index_t>(subdomains, 1, std::max<index_t>(rows, 1)), p.whole(1, 1, 0, 100), dense};
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

template <class V> struct solves_within {
  std::unique_ptr<any_preconditioner<V>> m;
  std::string about;
};

template <class V> solves_within<V> factored(row_view<double> b, const subdomains& s, bool symmetric, device where) {
  blocks<V> f = factorise<V>(b, s, symmetric);
  std::string about = std::move(f.about);
  if (where.is_gpu()) return {factored_on_gpu(std::move(f.factors)), std::move(about)};
  return {factored_by_blocks(std::move(f)), std::move(about)};
}

template <class V> solves_within<V> inverted(row_view<double> b, const subdomains& s, bool symmetric, device where) {
  dense_blocks<V> d = invert_blocks<V>(b, s, symmetric);
  std::string about = std::move(d.about);
  return {multiplied_by_blocks(std::move(d), where), std::move(about)};
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  const asked wanted = asked_for(text, a.shape.rows);
  const bool symmetric = needed.m.symmetric || needed.transposed;
  const rows_of_triplets<V> rows(a);
  host_array<double> scale;
  if (symmetric) scale = symmetric_scaling(rows.view(), needed.a.definite, "schwarz");
  stops_set_up::at_row(0);
  const adjacency neighbours = neighbours_of(rows.view());
  stops_set_up::at_row(0);
  subdomains s = cut(neighbours, wanted.subdomains, wanted.overlap);
  stops_set_up::at_row(0);
  index_t extended = 0;
  for (const auto& part : s.parts) extended += index_t(part.rows.size());
  if (wanted.dense) must_be_small<V>(s, where);
  else must_fit(rows.view(), s);
  const arrangement moved{host_array<std::int32_t>(s.order), inverse_permutation(as_cview(s.order)), scale, scale};
  const row_matrix<double> b = arranged(rows.view(), moved);
  stops_set_up::at_row(0);
  auto within = wanted.dense ? inverted<V>(b.view(), s, symmetric, where) : factored<V>(b.view(), s, symmetric, where);
  std::string about = fmt::format("schwarz: {} {}subdomain{}, overlap {}, {}, {:.2f} times the rows{}",
                                  wanted.subdomains, wanted.dense ? "dense " : "", wanted.subdomains == 1 ? "" : "s",
                                  wanted.overlap, symmetric ? "symmetric" : "restricted",
                                  double(extended) / double(std::max<index_t>(a.shape.rows, 1)), within.about);
  stops_set_up::at_row(0);
  coo<V> take = taking<V>(s, scale, extended), put = putting(s, take, !symmetric);
  auto first = in_best_format(std::move(take), where), last = in_best_format(std::move(put), where);
  if (where.is_gpu())
    return std::make_unique<over_parts<V, gpu_array<V>>>(std::move(first), std::move(within.m), std::move(last),
                                                         std::move(about));
  return std::make_unique<over_parts<V, host_array<V>>>(std::move(first), std::move(within.m), std::move(last),
                                                        std::move(about));
}

/// Each layer of overlap is taken to widen the parts by a tenth.
preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const asked wanted = asked_for(text, s.shape.rows);
  const double n = double(s.shape.rows), nnz = double(s.nnz), v = bytes_of(p);
  const double wider = 1 + 0.1 * double(wanted.overlap), each = 4 + v;
  const double around = wider * n * (2 * (8 + each) + 3 * v);
  if (wanted.dense) {
    const double inverses = v * wider * wider * n * n / double(wanted.subdomains), on_gpu = inverses * each / v;
    return {on_gpu + around, on_gpu + around + (8 + v) * inverses / v + 12 * nnz + 40 * n, false};
  }
  const double kept = wider * (each * nnz + n * 2 * 8) + around;
  return {kept, kept + wider * (2 * 12 * (nnz + n)) + 12 * nnz + 40 * n, false};
}

} // namespace

extern const preconditioner_entry entry{
    "schwarz",
    "additive Schwarz: overlapping subdomains, incomplete factors or dense inverses in each",
    {true, true},
    lay_out,
    make<double>,
    make<float>,
    "[:SUBDOMAINS[:OVERLAP]][:inside=ilu|dense]"};

} // namespace furrow::schwarz_preconditioner
