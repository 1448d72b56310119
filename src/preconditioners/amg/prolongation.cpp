// SPDX-License-Identifier: BSD-3-Clause
#include "prolongation.hpp"

#include "matrix/row_accumulator.hpp"

namespace furrow::amg {
namespace {

constexpr double piece_entries = 1 << 14;

struct smoothing {
  const node_matrix& m;
  const strong_graph& strong;
  const aggregates& g;
  const host_array<double>& inverse;
  double omega;
  zeros of_sums;
};

/// Says of a node's neighbours, asked for in ascending order, which are strong.
class strong_neighbours {
public:
  strong_neighbours(const strong_graph& g, index_t node)
      : next_(g.to.data() + g.first[node]), end_(g.to.data() + g.first[node + 1]) {}
  bool has(std::int32_t node) {
    while (next_ != end_ && *next_ < node) ++next_;
    return next_ != end_ && *next_ == node;
  }

private:
  const std::int32_t *next_, *end_;
};

/// Appends a row of `count` entries, without those that are 0 unless they are kept.
template <class Col, class Val>
void append(row_batch<double>& out, zeros of_sums, index_t count, Col col_of, Val value_of) {
  std::int32_t* const col = out.col.more(count);
  double* const val = out.val.more(count);
  index_t kept = 0;
  for (index_t k = 0; k < count; ++k) {
    col[kept] = col_of(k);
    val[kept] = value_of(k);
    kept += of_sums == zeros::kept || val[kept] != 0;
  }
  out.col.drop(count - kept), out.val.drop(count - kept);
  *out.length.more(1) = static_cast<std::int32_t>(kept);
}

/// Makes rows of P where a node is a row; a thread has one.
class single_rows {
public:
  explicit single_rows(const smoothing& s) : s_(s), row_(s.g.count) {}

  void make(index_t i, row_batch<double>& out) {
    row_.open();
    if (const std::int32_t own = s_.g.of[i]; own >= 0) {
      row_.add(own, 0); // the first place is the node's own
      if (s_.omega != 0) smooth(i);
      row_.sum(0) += 1;
      row_.sort();
    }
    append(
        out, s_.of_sums, row_.size(), [&](index_t k) { return row_.col(k); }, [&](index_t k) { return row_.sum(k); });
  }

private:
  /// row = -omega D^-1 A_F P0.
  void smooth(index_t i) {
    const double own = gather(i, false), left = own + weak_;
    if (left < least_share * own) row_.sum(0) = gather(i, true);
    else row_.sum(0) = left;
    row_.add(
        1, taken_, [&](index_t k) { return col_[k]; }, [&](index_t k) { return val_[k]; });
    const double factor = -s_.omega * s_.inverse[i];
    for (index_t k = 0; k < row_.size(); ++k) row_.sum(k) *= factor;
  }
  /// Takes the strong entries beside the diagonal, or all; adds up the others. The diagonal entry.
  double gather(index_t i, bool whole) {
    const auto& a = s_.m.a;
    const auto length = static_cast<std::size_t>(a.end(i) - a.begin(i));
    if (col_.size() < length) col_.resize(length), val_.resize(length);
    strong_neighbours strong(s_.strong, i);
    double own = 0;
    weak_ = 0, taken_ = 0;
    for (index_t k = a.begin(i); k < a.end(i); ++k) {
      const std::int32_t j = a.col[k];
      const double v = a.val[k];
      if (j == i) {
        own = v;
        continue;
      }
      const bool kept = whole || strong.has(j);
      weak_ += kept ? 0 : v;
      col_[taken_] = s_.g.of[j];
      val_[taken_] = v;
      taken_ += kept && s_.g.of[j] >= 0;
    }
    return own;
  }

  const smoothing& s_;
  row_accumulator row_;
  std::vector<std::int32_t> col_;
  std::vector<double> val_;
  index_t taken_ = 0;
  double weak_ = 0;
};

/// Makes the rows of P of nodes of several unknowns.
class block_rows {
public:
  explicit block_rows(const smoothing& s) : s_(s), b_(s.m.block), row_(s.g.count) {}

  void make(index_t node, row_batch<double>& out) {
    row_.open();
    sums_.clear();
    if (s_.g.of[node] >= 0) {
      place(s_.g.of[node]);
      if (s_.omega != 0) {
        filter(node);
        smooth(node);
      }
      for (int r = 0; r < b_; ++r) sums_[r * b_ + r] += 1; // P0: the first place is the node's own
    }
    emit(out);
  }

private:
  int places() const { return b_ * b_; }
  double* place(std::int32_t aggregate) {
    const std::int32_t at = row_.add(aggregate, 0);
    const auto size = static_cast<std::size_t>(row_.size()) * static_cast<std::size_t>(places());
    if (sums_.size() < size) sums_.resize(size, 0.0);
    return sums_.data() + static_cast<std::ptrdiff_t>(at) * places();
  }
  /// f(r, node j, c, value, strong) for the entries of row r of the node, whose own block counts as strong.
  template <class F> void each(index_t node, F f) const {
    const auto& a = s_.m.a;
    for (int r = 0; r < b_; ++r) {
      strong_neighbours strong(s_.strong, node);
      for (index_t k = a.begin(node * b_ + r), end = a.end(node * b_ + r); k < end;) {
        const std::int32_t j = a.col[k] / b_, first = j * b_;
        const bool coupled = j == node || strong.has(j);
        for (; k < end && a.col[k] - first < b_; ++k) f(r, j, a.col[k] - first, a.val[k], coupled);
      }
    }
  }
  /// The sum of the weak entries, and whether they may go.
  void filter(index_t node) {
    lumped_.assign(static_cast<std::size_t>(places()), 0.0);
    own_.assign(static_cast<std::size_t>(b_), 0.0);
    each(node, [&](int r, std::int32_t j, int c, double v, bool strong) {
      if (j == node && c == r) own_[r] = v;
      if (!strong) lumped_[r * b_ + c] += v;
    });
    whole_ = false;
    for (int r = 0; r < b_; ++r) whole_ = whole_ || own_[r] + lumped_[r * b_ + r] < least_share * own_[r];
  }
  /// sums = -omega D^-1 A_F P0.
  void smooth(index_t node) {
    std::int32_t aggregate = -1; // that of the entry before
    double* to = nullptr;
    each(node, [&](int r, std::int32_t j, int c, double v, bool strong) {
      if (s_.g.of[j] < 0 || !(whole_ || strong)) return;
      if (s_.g.of[j] != aggregate) to = place(aggregate = s_.g.of[j]);
      to[r * b_ + c] += v;
    });
    if (!whole_)
      for (int e = 0; e < places(); ++e) sums_[e] += lumped_[e];
    product_.resize(static_cast<std::size_t>(places()));
    const double* const inverse = s_.inverse.data() + node * places();
    for (index_t at = 0; at < row_.size(); ++at) {
      double* const block = sums_.data() + at * places();
      for (int r = 0; r < b_; ++r)
        for (int c = 0; c < b_; ++c) {
          double sum = 0;
          for (int l = 0; l < b_; ++l) sum += inverse[r * b_ + l] * block[l * b_ + c];
          product_[r * b_ + c] = -s_.omega * sum;
        }
      std::copy(product_.begin(), product_.end(), block);
    }
  }
  void emit(row_batch<double>& out) {
    order_.clear();
    for (index_t k = 0; k < row_.size(); ++k) order_.push_back({row_.col(k), static_cast<std::int32_t>(k)});
    std::sort(order_.begin(), order_.end());
    for (int r = 0; r < b_; ++r)
      append(
          out, s_.of_sums, row_.size() * b_,
          [&](index_t k) { return static_cast<std::int32_t>(order_[k / b_].first * b_ + k % b_); },
          [&](index_t k) { return sums_[order_[k / b_].second * places() + r * b_ + k % b_]; });
  }

  const smoothing& s_;
  int b_;
  row_accumulator row_; ///< places by aggregate
  std::vector<double> sums_, lumped_, own_, product_;
  std::vector<std::pair<std::int32_t, std::int32_t>> order_;
  bool whole_ = false;
};

template <class Rows> row_matrix<double> made_by(const smoothing& s) {
  const node_matrix& m = s.m;
  const auto cuts = cut_by_weight(m.nodes(), work_of_piece(double(m.a.nnz()), piece_entries), [&](index_t i) {
    return double(m.a.begin((i + 1) * m.block) - m.a.begin(i * m.block) + 1);
  });
  std::vector<row_batch<double>> pieces(cuts.size() - 1);
  pool<Rows> makers;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto maker = makers.take([&] { return std::make_unique<Rows>(s); });
    const index_t first = cuts[k] * m.block, last = cuts[k + 1] * m.block;
    pieces[k].reserve(last - first, (m.a.begin(last) - m.a.begin(first)) * 5 / 8);
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) maker->make(i, pieces[k]);
    makers.put(std::move(maker));
  });
  return stacked<double>({m.a.shape.rows, s.g.count * m.block}, std::move(pieces));
}

} // namespace

row_matrix<double> smoothed_prolongation(const node_matrix& m, const strong_graph& strong, const aggregates& g,
                                         const host_array<double>& inverse, double omega, zeros of_sums) {
  const smoothing s{m, strong, g, inverse, omega, of_sums};
  return m.block == 1 ? made_by<single_rows>(s) : made_by<block_rows>(s);
}

} // namespace furrow::amg
