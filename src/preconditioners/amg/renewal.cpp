// SPDX-License-Identifier: BSD-3-Clause
#include "renewal.hpp"

#include "host_kit.hpp"
#include "preconditioners/entry.hpp"

#include <atomic>

namespace furrow::amg {
namespace {

/// Makes plans while it makes levels.
template <class Kit> class planning : public Kit {
public:
  planning(row_view<double> a, int block, std::vector<level_plan>& plans) : Kit(a, block), plans_(plans) {}

  double look() {
    plans_.emplace_back();
    plans_.back().keep_diagonal(this->m_.a);
    this->inverse_ = inverse_diagonal(this->m_);
    follow_top(plans_.back().top, this->m_, this->inverse_);
    return this->lambda_ = plans_.back().top.bound;
  }
  bool coarsen(double theta, bool smoothed) {
    if (!smoothed) plans_.back().forget_smoothing();
    return Kit::coarsen(theta, smoothed, &plans_.back());
  }

private:
  std::vector<level_plan>& plans_;
};

template <class T> bool same(cview<T> x, cview<T> y) {
  if (x.size != y.size) return false;
  std::atomic<bool> all = true;
  cpu::for_each_range(x.size, 1 << 15, [&](index_t first, index_t last) {
    if (!std::equal(x.begin() + first, x.begin() + last, y.begin() + first)) all = false;
  });
  return all;
}

} // namespace

template <class W> bool aggregation_renewal<W>::fits(row_view<double> a) const {
  return same(as_cview(row_ptr_), a.row_ptr) && same(as_cview(col_), a.col);
}

template <class W> template <class Kit> bool aggregation_renewal<W>::make_by(row_view<double> a, hierarchy<W>& h) {
  planning<Kit> kit(a, block_, plans_);
  h = build_levels<W, host_array>(kit);
  return std::ranges::all_of(plans_, &level_plan::fits);
}

template <class W> void aggregation_renewal<W>::make(row_view<double> a, hierarchy<W>& h) {
  plans_.clear();
  row_ptr_ = {}, col_ = {};
  const bool fits = kind_ == kind::pairwise ? make_by<pairwise_kit>(a, h) : make_by<aggregation_kit>(a, h);
  if (!fits) return plans_.clear();
  row_ptr_ = copied(a.row_ptr), col_ = copied(a.col);
  h.facts[0].bytes += double(row_ptr_.byte_count() + col_.byte_count());
  for (std::size_t k = 0; k < plans_.size(); ++k) h.facts[k].bytes += plans_[k].stored_bytes();
}

/// The numbers of a level that is smoothed, and the matrix of the next one.
template <class W>
bool aggregation_renewal<W>::renew_level(std::size_t number, node_matrix& m, row_matrix<double>& coarse,
                                         hierarchy<W>& h) {
  level<W>& l = h.levels[number];
  level_plan& plan = plans_[number];
  const auto inverse = plan.inverse(m);
  follow_top(plan.top, m, inverse);
  l.lambda = plan.top.bound;
  round_into(l.inverse, as_cview(inverse), 1 / h.scale);
  if (l.by_diagonals()) fill_diagonals(l.diagonals, m.a, h.scale);
  else round_into(l.a.val, m.a.val, h.scale);
  if (l.last()) return true;
  host_array<double> p(l.p.val.size()), r(l.r.val.size());
  const index_t doubtful =
      plan.prolong(m, inverse, {l.p.shape, as_cview(l.p.row_ptr), as_cview(l.p.col), {}}, as_view(p));
  if (doubtful * most_doubtful > m.nodes()) return false;
  plan.transpose(as_cview(p), as_view(r));
  round_into(l.p.val, as_cview(p), 1);
  round_into(l.r.val, as_cview(r), 1);
  const triple_product_plan& product = plan.product();
  coarse.val.resize(product.col().size);
  product.multiply({l.r.shape, as_cview(l.r.row_ptr), as_cview(l.r.col), as_cview(r)}, m.a,
                   {l.p.shape, as_cview(l.p.row_ptr), as_cview(l.p.col), as_cview(p)}, as_view(coarse.val));
  return true;
}

template <class W> renewal_outcome aggregation_renewal<W>::renew(row_view<double> a, hierarchy<W>& h) {
  using outcome = renewal_outcome;
  if (row_ptr_.empty()) {
    make(a, h);
    return outcome::remade;
  }
  if (!fits(a)) return outcome::failed;
  node_matrix m{a, block_};
  row_matrix<double> own, coarse; // own: what m sees below the first level
  for (std::size_t k = 0; k < h.levels.size(); ++k) {
    const double began = seconds_now();
    const diagonal_extremes diagonal = k < plans_.size() ? plans_[k].extremes(m.a) : extremes_of_diagonal(m.a);
    if (k == 0) h.scale = diagonal.scale();
    if (h.levels[k].last() && !h.coarsest.empty()) {
      const auto inverse = dense_inverse(m.a);
      if (!inverse) refuse_indefinite(k);
      round_into(h.coarsest, as_cview(*inverse), 1 / h.scale);
    } else {
      if (!diagonal.are_positive()) refuse_indefinite(k);
      if (!renew_level(k, m, coarse, h)) {
        make(a, h);
        return outcome::remade;
      }
    }
    h.facts[k].seconds = seconds_now() - began;
    if (h.levels[k].last()) break;
    const triple_product_plan& product = plans_[k].product();
    own.val = std::exchange(coarse.val, {});
    m.a = {product.shape(), product.row_ptr(), product.col(), as_cview(own.val)};
  }
  return outcome::renewed;
}

template class aggregation_renewal<double>;
template class aggregation_renewal<float>;

} // namespace furrow::amg
