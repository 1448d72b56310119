// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters.hpp"
#include "preconditioners/entry.hpp"

namespace furrow::none_preconditioner {
namespace {

/// M = I. Solvers see `kind::identity` and leave M out of their passes; nothing calls `apply`.
template <class V> struct identity final : any_preconditioner<V> {
  void apply(cview<V>, view<V>) const override { require(false, "the identity is never applied"); }
  typename any_preconditioner<V>::kind what() const override { return any_preconditioner<V>::kind::identity; }
  double stored_bytes() const override { return 0; }
};

template <class V> std::unique_ptr<any_preconditioner<V>> make(const coo<V>&, std::string_view, device, solver_needs) {
  return std::make_unique<identity<V>>();
}

template <class V>
std::unique_ptr<any_preconditioner<V>> from_rows(const rows_on_gpu<V>&, const stats&, std::string_view, solver_needs) {
  return std::make_unique<identity<V>>();
}

preconditioner_layout lay_out(const stats&, precision, std::string_view parameters) {
  no_parameters("none", parameters);
  return {};
}

} // namespace

extern const preconditioner_entry entry{
    "none", "M = I: no preconditioner", {true, true},    lay_out, make<double>, make<float>, "", true,
    true,   from_rows<double>,          from_rows<float>};

} // namespace furrow::none_preconditioner
