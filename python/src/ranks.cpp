// SPDX-License-Identifier: BSD-3-Clause
// One solve on several devices, whose ranks are threads of this process.
#include "checkpoint.hpp"
#include "matrix.hpp"
#include "report.hpp"

#include <furrow/solve_on_devices.hpp>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace furrow::python {
namespace {

/// What `furrow solve --json` says of them.
nb::dict part_of(const rank_part& p) {
  nb::dict d, seconds;
  d["device"] = p.where.is_gpu() ? "gpu:" + std::to_string(p.where.ordinal) : "cpu";
  d["rows"] = p.rows, d["entries"] = p.entries, d["halo"] = p.halo, d["neighbours"] = p.neighbours;
  d["coupled"] = p.coupled;
  seconds["setup"] = p.setup_seconds, seconds["solve"] = p.solve_seconds, seconds["waiting"] = p.waiting_seconds;
  d["seconds"] = seconds;
  return d;
}
nb::dict all_of(const ranks_report& on) {
  nb::dict d = dict_of(on.report);
  nb::list parts;
  for (const rank_part& p : on.parts) parts.append(part_of(p));
  d["parts"] = parts, d["cut"] = on.cut(), d["partition"] = std::string(on.partition), d["way"] = on.way;
  d["gathered"] = on.gathered, d["rungs_together"] = on.rungs_together;
  return d;
}

/// Their numbers, by "gpu:all" or "gpu:0,1". Throws as `furrow::parse_devices`.
std::vector<int> ordinals_of(std::string_view text) {
  const without_lock unlocked;
  std::vector<int> ordinals;
  for (const device& d : parse_devices(text)) ordinals.push_back(d.is_gpu() ? d.ordinal : -1);
  return ordinals;
}

/// x holds the first guess and then the answer. An exception that came while it ran is in "raised". The calling thread
/// is the first rank, and hears Ctrl-C. `keeper`: who writes checkpoints, or None.
nb::dict solve(const nb::object& indptr, const nb::object& indices, const nb::object& data, index_t rows, index_t cols,
               const nb::object& b, const nb::object& x, const std::vector<int>& ordinals,
               std::shared_ptr<kept_x> keeper, const nb::dict& options) {
  const auto h = new_hooks();
  h->kept = std::move(keeper);
  solve_options o = options_of(options, h);
  o.monitor_every = nb::cast<index_t>(options["monitor_every"]);
  if (h->kept) o.monitor = h->kept->monitor; // which ranks show their parts, not all of x
  o.watch = [h, told = std::move(o.watch)](const progress& p) {
    if (h->kept && !h->kept->goes_on(*h)) return false;
    progress without = p; // x is in parts
    without.x = nullptr;
    return told(without);
  };
  std::vector<device> on;
  for (const int ordinal : ordinals) on.push_back(device_at(ordinal));
  const auto run = [&]<class V>(V) {
    const auto given = rows_of<V>(indptr, indices, data, {rows, cols});
    const buffer from(b, false), to(x, true);
    const auto in = from.read<V>();
    const auto out = to.write<V>();
    const without_lock unlocked;
    return std::visit([&](const auto& a) { return solve_on_devices(on, a, in, out, o); }, given.arrays);
  };
  nb::dict d = all_of(buffer(data, false).holds<double>() ? run(double{}) : run(float{}));
  d["raised"] = take_raised(*h);
  return d;
}

} // namespace

void bind_ranks(nb::module_& m) {
  m.def("ordinals_of", &ordinals_of);
  m.def("solve_on_devices", &solve, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("rows"),
        nb::arg("cols"), nb::arg("b"), nb::arg("x"), nb::arg("ordinals"), nb::arg("keeper").none(), nb::arg("options"));
}

} // namespace furrow::python
