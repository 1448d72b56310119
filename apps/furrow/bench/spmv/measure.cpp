// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"
#include "copies.hpp"
#include "lies_in.hpp"
#include "random_vector.hpp"
#include "runs.hpp"

#include "rivals/rival.hpp"
#include "tune/row_error.hpp"
#include "tune/touched.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/tune.hpp>

#include <algorithm>
#include <chrono>
#include <limits>

namespace furrow::cli::spmv_bench {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// One matrix in one precision, its vectors in the memory of the device. Operators and rivals come and go.
template <class V, class Memory> class session {
public:
  session(const plan& p, const listener& l, outcome& o, const coo<V>& a, const stats& s)
      : plan_(p), listener_(l), outcome_(o), a_(a), stats_(s), host_x_(random_vector<V>(a.shape.cols)),
        unwritten_(a.shape.rows, std::numeric_limits<V>::quiet_NaN()), x_(host_x_), y_(a.shape.rows),
        touched_(touched_columns(a)) {
    if (p.tune) tuned_ = tune<V>(a, s, p.where);
    if (p.check) reference_ = reference_product<V>(a, as_cview(host_x_));
  }

  /// From now on everything is measured once more.
  void next_turn() { ++turn_; }

  /// What tuning chose, where it was asked.
  const std::optional<choice>& tuned() const { return tuned_; }

  void run_ours(const run& r) {
    const std::string format = name_of(r.what);
    if (had_its_turn("furrow", format, r.what.kernel)) return; // what auto chose, by its name
    attempt({"furrow", format, r.what.kernel, precision_of<V>, {}}, [&] {
      product found = unmeasured("furrow", format);
      found.chosen = r.chosen;
      const layout stored = r.what.format->lay_out(stats_, precision_of<V>, r.what.parameters);
      found.places = stored.places;
      found.longest = longest_run(stored, stats_);
      coo<V> copy = a_;
      if (!plan_.where.is_gpu()) let_threads_rest();
      const double began = now();
      const auto op = make<V>(r.what, plan_.where, std::move(copy));
      wait_for(plan_.where);
      found.setup = now() - began;
      found.kernel = op->kernel();
      found.bytes = bytes_moved(*op, touched_);
      found.tuned = tuned_ && format == name_of(*tuned_) && found.kernel == tuned_->kernel;
      if (!had_its_turn("furrow", format, found.kernel))
        time(std::move(found), [&] { op->apply(V(1), as_cview(x_), V(0), as_view(y_)); });
    });
  }

  void run_rival(const bench::rival_library& library, const bench::rival_way& way) {
    const std::string name(library.name), format(way.name);
    attempt({name, format, {}, precision_of<V>, {}}, [&] {
      product found = unmeasured(name, format);
      if (!plan_.where.is_gpu()) let_threads_rest();
      const double began = now();
      const auto op = way.make<V>()(a_, as_cview(x_), as_view(y_));
      wait_for(plan_.where);
      found.setup = now() - began;
      found.bytes = op->stored_bytes() + double(sizeof(V)) * double(a_.shape.rows + touched_);
      time(std::move(found), [&] { op->product(); });
    });
    if (!plan_.where.is_gpu()) let_threads_rest();
  }

private:
  static product unmeasured(const std::string& library, const std::string& format) {
    product m;
    m.library = library;
    m.format = format;
    m.values = precision_of<V>;
    return m;
  }

  /// Null: never measured.
  product* find(const std::string& library, const std::string& format, const std::string& kernel) const {
    const auto it = std::ranges::find_if(outcome_.products, [&](const product& m) {
      return m.library == library && m.values == precision_of<V> && m.format == format && m.kernel == kernel;
    });
    return it == outcome_.products.end() ? nullptr : &*it;
  }
  bool had_its_turn(const std::string& library, const std::string& format, const std::string& kernel) const {
    const product* m = find(library, format, kernel);
    return m && m->turns > turn_;
  }

  /// What throws is left out, and said once; broken promises inside Furrow are not for this place.
  template <class F> void attempt(left_out what, F&& f) {
    try {
      f();
    } catch (const error& e) {
      if (e.kind == fault::internal && what.library == "furrow") throw;
      what.why = e.what();
    } catch (const std::bad_alloc&) {
      what.why = "out of memory";
    }
    const bool said = std::ranges::any_of(outcome_.skipped, [&](const left_out& s) {
      return s.library == what.library && s.format == what.format && s.kernel == what.kernel && s.values == what.values;
    });
    if (what.why.empty() || said) return;
    outcome_.skipped.push_back(what);
    listener_.skipped(what);
  }

  /// One turn of `found`; nothing of it has been measured but what it took to set it up.
  void time(product found, const std::function<void()>& call) {
    // What a kernel forgets to write shows up as NaN.
    copy_bytes(Memory{}, y_.data(), host_memory{}, unwritten_.data(), unwritten_.byte_count());
    const timing turn = time_steadily(call, plan_.where, plan_.how);
    if (reference_) {
      const host_array<V> y(y_);
      found.row_error = largest_row_error<V>(*reference_, as_cview(y));
    }
    product* kept = find(found.library, found.format, found.kernel);
    if (!kept) kept = &outcome_.products.emplace_back(found);
    keep_faster(kept->time, turn);
    if (found.row_error && !(*found.row_error <= *kept->row_error)) kept->row_error = found.row_error; // or NaN
    if (++kept->turns < plan_.turns) return;
    kept->ceiling = plan_.ceiling(kept->bytes);
    kept->lies_in = plan_.cold ? "memory" : lies_in(plan_.where, kept->bytes);
    listener_.measured(outcome_, *kept);
  }

  const plan& plan_;
  const listener& listener_;
  outcome& outcome_;
  const coo<V>& a_;
  const stats& stats_;
  host_array<V> host_x_, unwritten_;
  basic_array<V, Memory> x_, y_;
  index_t touched_; ///< elements of x that are read
  std::optional<row_reference> reference_;
  std::optional<choice> tuned_;
  int turn_ = 0; ///< how many are over
};

template <class V, class Memory>
void measure_on(const plan& p, const listener& l, outcome& o, const coo<V>& a, const stats& s) {
  session<V, Memory> each(p, l, o, a, s);
  const auto skip = [&](const left_out& what) {
    o.skipped.push_back(what);
    l.skipped(what);
  };
  const auto runs = runs_of(p, s, precision_of<V>, skip);
  for (int turn = 0; turn < p.turns; ++turn, each.next_turn()) {
    for (const auto& r : runs) each.run_ours(r);
    if (each.tuned()) each.run_ours({*each.tuned()});
    for (const auto& library : bench::rival_libraries())
      if (p.rivals && library.where == p.where.what && library.present())
        for (const auto& way : library.ways) each.run_rival(library, way);
  }
}

template <class V> void measure_in(const plan& p, const listener& l, outcome& o, const coo<V>& a, const stats& s) {
  if (p.where.is_gpu()) measure_on<V, gpu_memory>(p, l, o, a, s);
  else measure_on<V, host_memory>(p, l, o, a, s);
}

/// The fastest of those that satisfy `which`.
template <class F> const product* fastest_of(const std::vector<product>& all, F&& which) {
  const product* found = nullptr;
  for (const auto& m : all)
    if (which(m) && (!found || m.time.median < found->time.median)) found = &m;
  return found;
}

} // namespace

const product* outcome::best(precision p) const {
  return fastest_of(products, [&](const product& m) { return m.ours() && m.values == p; });
}
const product* outcome::chosen(precision p) const {
  return fastest_of(products, [&](const product& m) { return m.chosen && m.values == p; });
}
const product* outcome::tuned(precision p) const {
  return fastest_of(products, [&](const product& m) { return m.tuned && m.values == p; });
}
const product* outcome::fastest(precision p, const std::string& library, const std::string& format) const {
  return fastest_of(products,
                    [&](const product& m) { return m.values == p && m.library == library && m.format == format; });
}

outcome measure_matrix(const std::string& file, const plan& p, const listener& l) {
  outcome o;
  o.file = file;
  const double began = now();
  problem read = load(file);
  o.read_seconds = now() - began;
  o.name = read.name;
  if (p.copies > 1) {
    read.a = on_diagonal(read.a, p.copies);
    o.name += " x " + std::to_string(p.copies);
  }
  o.s = measure(read.a);
  check(o.s.finite || !p.check, fault::input, "it holds a NaN or an infinity: no reference to --check with");
  l.loaded(o);
  for (const precision values : p.precisions) {
    if (values == precision::f64) {
      measure_in<double>(p, l, o, read.a, o.s);
      continue;
    }
    coo<double> copy;
    if (values == p.precisions.back()) copy = std::move(read.a);
    else copy = read.a;
    const auto narrow = convert_values<float>(std::move(copy));
    measure_in<float>(p, l, o, narrow, o.s);
  }
  o.s.row_length = {};
  return o;
}

} // namespace furrow::cli::spmv_bench
