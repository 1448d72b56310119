// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "small_control.hpp"

#include "core/wide_sum.hpp"
#include "solvers/pass.hpp"
#include "solvers/shadow_vector.hpp"

#include <furrow/value.hpp>

#include <type_traits>

namespace furrow::small_systems {

/// What a team shares beside its vectors.
struct board {
  facts about;
  state now;
};

#if defined(__CUDACC__)
#define FURROW_APART FURROW_HD __noinline__ // registers of what one lane does by itself are not those of the others
#else
#define FURROW_APART
#endif

/// `controller::next`, by one lane.
template <class V, method M> FURROW_APART void choose_next(board& shared, bool stop) {
  shared.now.next = controller(shared.now, shared.about, M, double(epsilon_of<V>) / 2).next(stop);
}

/// What follows a step whose sums are in their slots, by one lane. `records`: the system's place among those of a step,
/// of which there are `apart`.
template <class V, method M>
FURROW_APART void judge_step(board& shared, bool diagonal, record* records, std::int32_t apart) {
  constexpr double unit = double(epsilon_of<V>) / 2;
  state& s = shared.now;
  controller control_of(s, shared.about, M, unit);
  double of_step[cg_scalars::number_count] = {};
  const control::step_records kept{of_step, 1, cg_scalars::number_count};
  const double before = s.slot[control::steps], row = shared.about.longest_row;
  const auto decide = [&](const auto& judge) {
    return control::until<std::remove_cvref_t<decltype(judge)>>{s.slot, kept, control_of.limits(), judge}.decide();
  };
  if constexpr (M == method::cg)
    s.verdict = decide(
        cg_scalars::judge{s.slot, kept, (row + 64) * unit * (diagonal ? row : shared.about.norm_inf), unit, false});
  else s.verdict = decide(bicgstab_steps::judge{s.slot});
  const bool started = s.started != 0;
  control_of.count(before);
  if (!(s.slot[control::steps] > before) || s.replaying) return;
  record& mine = records[index_t(s.recorded++) * apart];
  mine.norm = started ? -of_step[cg_scalars::norm] : of_step[cg_scalars::norm];
  mine.alpha = of_step[cg_scalars::alpha];
  mine.beta = of_step[cg_scalars::beta];
}

/// A team solves one system, or goes on with it: the lanes' side of `controller`. A team has `rank`, `size` and
///   sync()             what a lane has written all lanes can read
///   sum(a), sum(a, b)  over all lanes, the same bits in each and on every run; a sync
///   add_lanes(v, n)    over each n lanes that follow each other, in the first of them at least
/// and n divides `size`. Element i of a vector belongs to lane i modulo `size` in all passes, so that a sync is needed
/// only before other lanes' elements are read.
template <class V, method M, bool inside, class Team> class small_system {
public:
  /// The system `number` of a launch, its vectors and, `inside`, its matrix in `room`. `load` brings them there.
  FURROW_HD small_system(const Team& team, board& shared, unsigned char* room, const work<V>& w, int number)
      : t_(team), shared_(shared), f_(shared.about), s_(shared.now), w_(w), room_(room), number_(number) {}

  FURROW_HD void run() {
    load();
    for (;;) {
      t_.sync();
      if (t_.rank == 0) choose_next<V, M>(shared_, w_.stop != 0);
      t_.sync();
      if (s_.next == command::leave) break;
      if (s_.next == command::steps) step_on();
      else carry_out(t_, shared_, room_, w_, number_);
    }
    store();
  }

private:
  static constexpr bool is_cg = M == method::cg;

  FURROW_HD V* best() const { return w_.all.best + f_.vector_at; }
  FURROW_HD const V* first() const { return w_.all.first + f_.vector_at; }
  FURROW_HD bool diagonal() const { return w_.all.d != nullptr; }

  /// A command that comes rarely. Its registers are not those of the steps, so it is made from what lies in memory.
  static FURROW_APART void carry_out(Team team, board& shared, unsigned char* room, const work<V>& w, int number) {
    small_system again(team, shared, room, w, number);
    again.lay_out();
    again.carry_out(shared.now.next);
  }
  FURROW_HD void carry_out(command c) {
    switch (c) {
    case command::take_first:
      copy(first(), x());
      break;
    case command::take_best:
      copy(best(), x());
      break;
    case command::keep_best:
      copy(x(), best());
      if (t_.rank == 0) s_.has_best = 1;
      break;
    case command::exact:
      look_beyond_rounding();
      break;
    case command::start:
      start();
      break;
    case command::moves:
      measure_moves();
      break;
    default:
      break;
    }
    if (c == command::look || c == command::take_first || c == command::take_best) look();
  }

  // Vectors lie one behind the other; what follows from one address takes no registers.
  FURROW_HD V* x() const { return vectors_; }
  FURROW_HD V* r() const { return vectors_ + pitch_; }
  FURROW_HD V* p() const { return vectors_ + 2 * pitch_; }
  FURROW_HD V* q() const { return vectors_ + 3 * pitch_; } ///< A p
  FURROW_HD V* t() const { return vectors_ + 4 * pitch_; } ///< of bicgstab, as those that follow
  FURROW_HD V* shadow() const { return vectors_ + 5 * pitch_; }
  FURROW_HD V* scaled() const { return vectors_ + 7 * pitch_; } ///< d p or d r
  FURROW_HD V* d() const { return vectors_ + (is_cg ? 4 : 6) * pitch_; }

  template <class T> FURROW_HD void copy_words(const T* from, T* to) const {
    constexpr int words = int(sizeof(T) / sizeof(std::int64_t));
    static_assert(sizeof(T) % sizeof(std::int64_t) == 0);
    share(words,
          [&](int k) { reinterpret_cast<std::int64_t*>(to)[k] = reinterpret_cast<const std::int64_t*>(from)[k]; });
  }
  /// use(i) for this lane's share of [0, count).
  template <class Use> FURROW_HD void share(int count, Use use) const {
#if defined(__CUDA_ARCH__)
#pragma unroll 1 // blocks beside this one hide the wait; several elements at a time would take their registers
#endif
    for (int i = t_.rank; i < count; i += t_.size) use(i);
  }
  template <class Use> FURROW_HD void each(Use use) const { share(n_, use); }
  FURROW_HD void copy(const V* from, V* to) const {
    each([&](int i) { to[i] = from[i]; });
  }
  template <class T> static FURROW_HD T* take(unsigned char*& room, index_t count) {
    T* const array = reinterpret_cast<T*>(room);
    room += (count * index_t(sizeof(T)) + 7) / 8 * 8;
    return array;
  }

  /// Shares the room out as `shared_bytes` counts it.
  FURROW_HD void lay_out() {
    unsigned char* room = room_;
    n_ = f_.rows, pitch_ = pitch_of(n_, int(sizeof(V)));
    vectors_ = take<V>(room, vectors_of(M, diagonal()) * pitch_);
    row_ = take<std::int32_t>(room, n_ + 1);
    if constexpr (inside) {
      val_ = take<V>(room, f_.entries), col_ = take<std::uint16_t>(room, f_.entries);
    } else {
      val_ = w_.all.val + f_.entry_at, col_ = w_.all.col + f_.entry_at;
    }
  }

  FURROW_HD void load() {
    const std::int32_t k = w_.active[number_];
    copy_words(w_.all.about + k, &shared_.about);
    copy_words(w_.all.states + k, &shared_.now);
    t_.sync();
    lay_out();
    const index_t at = f_.vector_at;
    if (diagonal()) copy(w_.all.d + at, d());
    share(n_ + 1, [&](int i) { row_[i] = w_.all.row_ptr[f_.offset_at + i]; });
    if constexpr (inside)
      share(f_.entries, [&](int e) { val_[e] = w_.all.val[f_.entry_at + e], col_[e] = w_.all.col[f_.entry_at + e]; });
    if (s_.at == place::fresh) {
      copy(first(), x());
    } else {
      copy(w_.all.x + at, x()), copy(w_.all.r + at, r()), copy(w_.all.p + at, p());
      if constexpr (!is_cg) {
        copy(w_.all.shadow + at, shadow());
        if (diagonal()) each([&](int i) { scaled()[i] = d()[i] * p()[i]; });
      }
    }
    if (t_.rank == 0) s_.left = w_.steps, s_.recorded = 0;
  }

  FURROW_HD void store() const {
    const std::int32_t k = w_.active[number_];
    const index_t at = f_.vector_at;
    copy(x(), w_.all.x + at);
    copy_words(&s_, w_.all.states + k), copy_words(&s_, w_.news + number_);
    if (s_.at == place::done) return;
    copy(r(), w_.all.r + at), copy(p(), w_.all.p + at);
    if constexpr (!is_cg) copy(shadow(), w_.all.shadow + at);
  }

  /// use(i, (A z)[i]) of each row by one lane, z[j] = get(j), which must be there for all lanes.
  template <class Get, class Use> FURROW_HD void multiply(Get get, Use use) const {
    const int lanes = f_.lanes, lane = t_.rank & (lanes - 1), apart = t_.size / lanes;
    // All lanes turn together, so that they meet in the sums.
    for (int from = 0; from < n_; from += apart) {
      const int i = from + t_.rank / lanes;
      V sum = 0;
      if (i < n_) {
        const int end = row_[i + 1];
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
        for (int k = row_[i] + lane; k < end; k += lanes) sum += val_[k] * get(col_[k]);
      }
      if (lanes > 1) sum = t_.add_lanes(sum, lanes);
      if (lane == 0 && i < n_) use(i, sum);
    }
  }

  FURROW_HD void look() {
    t_.sync();
    double rr = 0, xx = 0, bb = 0, wrong = 0;
    const V* const b = w_.all.b + f_.vector_at;
    multiply([&](int j) { return x()[j]; },
             [&](int i, V sum) {
               const V bi = b[i], ri = bi - sum;
               r()[i] = ri;
               rr += double(ri) * double(ri), bb += double(bi) * double(bi);
             });
    each([&](int i) {
      const double xi = double(x()[i]);
      xx += xi * xi, wrong += xi - xi;
    });
    t_.sum(rr, xx);
    t_.sum(bb, wrong);
    if (t_.rank == 0) {
      s_.residual = sqrt(rr), s_.norm_x = sqrt(xx), s_.norm_b = sqrt(bb);
      s_.x_finite = wrong == 0, s_.is_exact = 0;
    }
  }

  FURROW_HD void look_beyond_rounding() {
    double rr = 0, tt = 0;
    const V* const b = w_.all.b + f_.vector_at;
    each([&](int i) {
      wide_sum<V> sum(b[i]);
      double terms = fabs(double(b[i]));
      for (int k = row_[i]; k < row_[i + 1]; ++k) {
        const V xk = x()[col_[k]];
        sum.subtract(val_[k], xk);
        terms += fabs(double(val_[k]) * double(xk));
      }
      tt += terms * terms;
      const double ri = sum.value();
      r()[i] = V(ri);
      rr += ri * ri;
    });
    t_.sum(rr, tt);
    if (t_.rank == 0) s_.residual = sqrt(rr), s_.terms = sqrt(tt), s_.is_exact = 1;
  }

  /// The eighth power of |x - y| / |x|, see `iteration`.
  FURROW_HD double moved_since(const V* y) {
    const double size = s_.norm_x / sqrt(double(n_));
    const compare eighth_powers{1 / size};
    double mine[2] = {};
    each([&](int i) { eighth_powers(x()[i], y[i], sums<2>{mine, 1}); });
    t_.sum(mine[0], mine[1]);
    return size > 0 ? mine[0] / mine[1] : 0;
  }
  FURROW_HD void measure_moves() {
    const double since_best = s_.has_best ? moved_since(best()) : 0;
    const double since_first = s_.has_first ? moved_since(first()) : 1;
    t_.sync();
    if (t_.rank == 0) s_.moved_since_best = since_best, s_.moved_since_first = since_first;
  }

  FURROW_HD V scale(int i, V ri) const { return diagonal() ? d()[i] * ri : ri; }

  FURROW_HD void start() {
    t_.sync(); // r is there
    double sum = 0;
    each([&](int i) {
      const V ri = r()[i], zi = scale(i, ri);
      if constexpr (is_cg) {
        p()[i] = zi;
        sum += double(ri) * double(zi);
      } else {
        const V against = s_.other_shadow ? V(shadow_element(i, s_.restarts)) : ri;
        shadow()[i] = against, p()[i] = ri;
        if (diagonal()) scaled()[i] = zi;
        sum += double(against) * double(ri);
      }
    });
    sum = t_.sum(sum);
    if (t_.rank != 0) return;
    if constexpr (is_cg) s_.slot[cg_scalars::rz] = sum, cg_scalars::reset{s_.slot}();
    else s_.slot[bicgstab_steps::rho] = sum;
  }

  FURROW_HD void step_on() {
    if constexpr (is_cg) steps_of_cg();
    else steps_of_bicgstab();
  }

  /// After each step, by the lane that keeps the numbers.
  FURROW_HD void judge() { judge_step<V, M>(shared_, diagonal(), w_.records + number_, w_.count); }

  /// `conjugate_gradients::step`, in three syncs.
  FURROW_HD void steps_of_cg() {
    using namespace cg_scalars;
    double rz_now = s_.slot[rz];
    do {
      double pq_now = 0;
      multiply([&](int j) { return p()[j]; },
               [&](int i, V sum) {
                 q()[i] = sum;
                 pq_now += double(p()[i]) * double(sum);
               });
      pq_now = t_.sum(pq_now);
      const V alpha = V(pq_now > 0 ? rz_now / pq_now : 0);
      double rr = 0, next = 0;
      each([&](int i) {
        const V ri = r()[i] - alpha * q()[i], zi = scale(i, ri);
        r()[i] = ri;
        rr += double(ri) * double(ri), next += double(ri) * double(zi);
      });
      t_.sum(rr, next);
      if (t_.rank == 0) {
        s_.slot[pq] = pq_now, s_.slot[rz_next] = next, s_.slot[control::rr] = rr;
        judge();
      }
      const V beta = V(rz_now > 0 ? next / rz_now : 0);
      rz_now = next;
      each([&](int i) {
        const V pi = p()[i], zi = scale(i, r()[i]);
        x()[i] = x()[i] + alpha * pi;
        p()[i] = zi + beta * pi;
      });
      t_.sync();
    } while (s_.goes_on);
  }

  static FURROW_HD double over(double num, double den) { return den != 0 ? num / den : 0; }

  /// `stabilised_bicg::step`, in five syncs. r~'r is a sum over r, which takes no pass here: all of it is `s_shadow`.
  FURROW_HD void steps_of_bicgstab() {
    using namespace bicgstab_steps;
    const V *const p_hat = diagonal() ? scaled() : p(), *const s_hat = diagonal() ? scaled() : r();
    double rho_now = s_.slot[rho];
    do {
      double sigma_now = 0, ts_now = 0, tt_now = 0, ss_now = 0, rr = 0, next = 0;
      multiply([&](int j) { return p_hat[j]; },
               [&](int i, V sum) {
                 q()[i] = sum;
                 sigma_now += double(shadow()[i]) * double(sum);
               });
      sigma_now = t_.sum(sigma_now);
      const double alpha = over(rho_now, sigma_now);
      each([&](int i) {
        const V ri = r()[i] - V(alpha) * q()[i];
        r()[i] = ri;
        if (diagonal()) scaled()[i] = d()[i] * ri;
        ss_now += double(ri) * double(ri);
      });
      ss_now = t_.sum(ss_now);
      multiply([&](int j) { return s_hat[j]; },
               [&](int i, V sum) {
                 t()[i] = sum;
                 ts_now += double(sum) * double(r()[i]);
                 tt_now += double(sum) * double(sum);
               });
      t_.sum(ts_now, tt_now);
      const double omega = omega_of(ts_now, tt_now, ss_now);
      each([&](int i) {
        const V si = r()[i], ri = si - V(omega) * t()[i];
        x()[i] = x()[i] + V(alpha) * scale(i, p()[i]) + V(omega) * scale(i, si);
        r()[i] = ri;
        rr += double(ri) * double(ri), next += double(shadow()[i]) * double(ri);
      });
      t_.sum(rr, next);
      if (t_.rank == 0) {
        s_.slot[sigma] = sigma_now, s_.slot[ts] = ts_now, s_.slot[tt] = tt_now, s_.slot[ss] = ss_now;
        s_.slot[s_shadow] = next, s_.slot[t_shadow] = 0, s_.slot[control::rr] = rr;
        judge();
      }
      const double beta = omega == 0 ? 0 : over(next, rho_now) * (alpha / omega);
      rho_now = next;
      each([&](int i) {
        const V pi = r()[i] + V(beta) * (p()[i] - V(omega) * q()[i]);
        p()[i] = pi;
        if (diagonal()) scaled()[i] = d()[i] * pi;
      });
      t_.sync();
    } while (s_.goes_on);
  }

  Team t_;
  board& shared_;
  const facts& f_;
  state& s_;
  const work<V>& w_;
  unsigned char* room_;
  int number_, n_ = 0, pitch_ = 0;
  V* vectors_ = nullptr;
  std::int32_t* row_ = nullptr;
  std::conditional_t<inside, V*, const V*> val_ = nullptr;
  std::conditional_t<inside, std::uint16_t*, const std::uint16_t*> col_ = nullptr;
};

} // namespace furrow::small_systems
