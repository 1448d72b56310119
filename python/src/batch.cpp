// SPDX-License-Identifier: BSD-3-Clause
#include "hooks.hpp"
#include "matrix.hpp"
#include "report.hpp"
#include "solve/batch/each_system.hpp"

#include <furrow/solver.hpp>

#include <nanobind/stl/string.h>

#include <utility>
#include <vector>

namespace furrow::python {
namespace {

template <class V> struct borrowed_system {
  caller_rows<V> a;
  buffer b, x;
};

/// From (indptr, indices, data, rows, cols, b, x) of each.
template <class V> std::vector<borrowed_system<V>> borrow(const nb::list& systems) {
  std::vector<borrowed_system<V>> all;
  all.reserve(nb::len(systems));
  for (const nb::handle one : systems) {
    const auto part = [&](int k) -> nb::object { return one[k]; };
    const shape2 shape{nb::cast<index_t>(one[3]), nb::cast<index_t>(one[4])};
    all.push_back({rows_of<V>(part(0), part(1), part(2), shape), buffer(part(5), false), buffer(part(6), true)});
  }
  return all;
}

/// Each outcome: what the report says, or (kind of the fault, sentence); and what was raised, or None. The caller's
/// thread takes part, and sees signals between the steps of its systems.
nb::object solve_all(const nb::list& systems, bool single, const nb::dict& options) {
  const auto h = new_hooks();
  const solve_options o = options_of(options, h);
  const auto run = [&]<class V>(V) {
    const auto all = borrow<V>(systems);
    const without_lock unlocked;
    system_source<V> source;
    source.count = std::ssize(all);
    source.size = [&](index_t k) { return all[k].b.template read<V>().size + all[k].a.nnz(); };
    source.solve = [&](index_t k, const solve_options& own) {
      const borrowed_system<V>& s = all[k];
      return std::visit([&](const auto& a) { return solver<V>(a, own); }, s.a.arrays)
          .solve(s.b.template read<V>(), s.x.template write<V>());
    };
    source.triplets = [&](index_t k) { return std::visit([](const auto& a) { return to_coo(a); }, all[k].a.arrays); };
    source.b = [&](index_t k) { return all[k].b.template read<V>(); };
    source.x = [&](index_t k) { return all[k].x.template write<V>(); };
    return for_each_system(source, o);
  };
  const std::vector<batch_outcome> outcomes = single ? run(float{}) : run(double{});
  nb::list said;
  for (const batch_outcome& one : outcomes) {
    if (one.refused) said.append(nb::make_tuple(static_cast<int>(one.refused->kind), std::string(one.refused->what())));
    else said.append(dict_of(one.report));
  }
  return nb::make_tuple(said, take_raised(*h));
}

} // namespace

void bind_batch(nb::module_& m) {
  m.def("solve_batch", &solve_all, nb::arg("systems"), nb::arg("single"), nb::arg("options"));
}

} // namespace furrow::python
