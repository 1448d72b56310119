// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"
#include "gpu.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

namespace furrow::python {
namespace {

/// The x of a moment as a function for Python, which works it out when it is called, while this lives; None where
/// there is none.
class shown_x {
public:
  explicit shown_x(const progress& p) : of_(std::make_shared<const progress*>(&p)) {}
  shown_x(const shown_x&) = delete;
  ~shown_x() { *of_ = nullptr; }

  nb::object for_python() const {
    if (!(*of_)->x) return nb::none();
    return nb::cpp_function([of = of_] {
      check(*of != nullptr, fault::usage, "the x of a step is there while its monitor runs: ask for it inside");
      const host_array<double> x = [&] {
        const without_lock unlocked;
        return (*of)->x();
      }();
      return new_array(as_cview(x));
    });
  }

private:
  std::shared_ptr<const progress*> of_;
};

} // namespace

solve_options options_of(const nb::dict& d, const std::shared_ptr<hooks>& h) {
  solve_options o;
  const auto text = [&](const char* key, std::string& to) { to = nb::cast<std::string>(d[key]); };
  text("solver", o.solver), text("precond", o.precond), text("format", o.format), text("kernel", o.kernel);
  text("scale", o.scale), text("reorder", o.reorder);
  o.rtol = nb::cast<double>(d["rtol"]);
  o.atol = nb::cast<double>(d["atol"]);
  o.max_iterations = nb::cast<index_t>(d["maxiter"]);
  o.time_limit = nb::cast<double>(d["time_limit"]);
  o.tune = nb::cast<bool>(d["tune"]);
  o.assume_symmetric = nb::cast<bool>(d["assume_symmetric"]);
  o.where = device_at(nb::cast<int>(d["ordinal"]));
  if (const nb::object given = d["coordinates"]; !given.is_none()) {
    const nb::object array = given[0];
    const buffer values(array, false);
    const cview<double> from = values.read<double>();
    auto points =
        std::make_shared<node_coordinates>(node_coordinates{nb::cast<int>(given[1]), host_array<double>(from.size)});
    std::ranges::copy(from, points->values.begin());
    o.coordinates = std::move(points);
  }
  h->watch = d["watch"];
  h->monitor = d["monitor"];
  o.watch_every = nb::cast<index_t>(d["watch_every"]);
  o.watch = [h](const progress& p) {
    return h->hear([&] {
      if (h->watch.is_none() || !p.due) return true;
      const shown_x x(p);
      return !nb::cast<bool>(h->watch(p.iteration, p.relative_residual, p.seconds, x.for_python()));
    });
  };
  o.cancelled = [h] { return is_helper ? h->cancelled.load() : !h->hear([] { return true; }); };
  o.monitor_seconds = nb::cast<double>(d["checkpoint_every"]);
  if (o.monitor_seconds > 0) {
    o.monitor = [h](const progress& p, cview<double> x) { return !h->kept || h->kept->keep(*h, p, x); };
    return o;
  }
  if (h->monitor.is_none()) return o;
  o.monitor_every = nb::cast<index_t>(d["monitor_every"]);
  o.monitor = [h](const progress& p, cview<double> x) {
    return h->hear(
        [&] { return !nb::cast<bool>(h->monitor(p.iteration, p.relative_residual, p.seconds, new_array(x))); });
  };
  return o;
}

nb::object take_raised(hooks& h) {
  if (!h.raised) return nb::none();
  try {
    std::rethrow_exception(std::exchange(h.raised, nullptr));
  } catch (nb::python_error& e) {
    return nb::borrow(e.value());
  }
}

} // namespace furrow::python
