// SPDX-License-Identifier: BSD-3-Clause
#include "gpu.hpp"

#include "core/memory_place.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <string_view>

namespace furrow::python {
namespace {

/// f() without the interpreter's lock: the first call that asks a GPU waits until its driver has made a context.
template <class F> auto unlocked(F f) {
  const without_lock lock;
  return f();
}

nb::dict devices() {
  const gpu_status s = unlocked([] { return inspect_gpus(); });
  nb::dict d;
  nb::list gpus;
  for (const auto& g : s.gpus) gpus.append(nb::make_tuple(g.ordinal, g.name, g.memory_bytes));
  d["gpus"] = gpus;
  d["gpu_built"] = s.built;
  d["problem"] = s.problem;
  return d;
}

/// -1 for the CPU. Throws as `furrow::parse_device`.
int ordinal_of(std::string_view text) {
  const device d = unlocked([text] { return parse_device(text); });
  return d.is_gpu() ? d.ordinal : -1;
}

/// The GPU whose memory an address is of; -1 where it is of none.
int ordinal_at(std::uintptr_t address) {
  notice_gpu_driver();
  const memory_place at = place_of(reinterpret_cast<const void*>(address));
  return at.gpu ? at.ordinal : -1;
}

} // namespace

void bind_gpu(nb::module_& m) {
  nb::class_<gpu_vector>(m, "GpuVector")
      .def(nb::init<std::uintptr_t, index_t, char, nb::object>())
      .def_ro("data", &gpu_vector::data)
      .def_ro("size", &gpu_vector::size);
  m.def("devices", &devices);
  m.def("ordinal_of", &ordinal_of);
  m.def("ordinal_at", &ordinal_at);
  m.def("describe", [](int ordinal) { return unlocked([=] { return describe(device_at(ordinal)); }); });
  m.def("copied_bytes", [](int ordinal) { return unlocked([=] { return copied_bytes(device_at(ordinal)); }); });
}

} // namespace furrow::python
