// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"
#include "turn.hpp"

#include "core/crosses.hpp"

#include <furrow/spaces.hpp>

#include <string>

/// The members of `basic_space`, over the space of the library that a `space_behind` names.
namespace furrow {

template <class V, class Memory> struct space_behind;

/// sum = v1 + alpha v2.
template <class V> struct add_ratio {
  quotient alpha;
  double times;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& sum, V v1, V v2, sums<0>) const { sum = v1 + V(times * alpha) * v2; }
};

template <class V, class Memory> basic_space<V, Memory>::basic_space(device where) : where_(where) {
  check(where.is_gpu() == std::is_same_v<Memory, gpu_memory>, fault::usage,
        "a space of host memory runs on the CPU, and one of a GPU's memory on a GPU");
  if (where.is_gpu()) parse_device("gpu:" + std::to_string(where.ordinal)); // says why there is none
  select_device(where);
}

template <class V, class Memory> void basic_space<V, Memory>::copy(cview<V> x, view<V> y) {
  check(x.size == y.size, fault::usage, "copy: x and y have different lengths: give vectors of one length");
  check((x.data && y.data) || x.empty(), fault::usage, "copy: x or y has no memory: give their elements");
  check(!crosses(x, y), fault::usage, "copy: y shares part of x's memory: give it its own");
  const turn now(where_);
  typename space_behind<V, Memory>::type().copy(x, y);
}

template <class V, class Memory> void basic_space<V, Memory>::add(cview<V> v1, ratio alpha, cview<V> v2, view<V> sum) {
  check(v1.size == sum.size && v2.size == sum.size, fault::usage,
        "add: the vectors have different lengths: give vectors of one length");
  check((v1.data && v2.data && sum.data) || sum.empty(), fault::usage,
        "add: a vector has no memory: give its elements");
  check(!crosses(v1, sum) && !crosses(v2, sum), fault::usage,
        "add: the sum shares part of a vector's memory: give it its own, or that of v1 or v2");
  check(alpha.num.at && alpha.den.at, fault::usage, "add: the factor has no slots: give two of this space");
  const turn now(where_);
  typename space_behind<V, Memory>::type().sweep(
      sum.size, pass(add_ratio<V>{alpha.num / alpha.den, alpha.times}, out(sum), in(v1), in(v2)));
}

template <class V, class Memory> void basic_space<V, Memory>::dot(cview<V> x, cview<V> y, slot out) {
  check(x.size == y.size, fault::usage, "dot: x and y have different lengths: give vectors of one length");
  check((x.data && y.data) || x.empty(), fault::usage, "dot: x or y has no memory: give their elements");
  check(out.at != nullptr, fault::usage, "dot: the sum has no slot: give one of this space");
  const turn now(where_);
  typename space_behind<V, Memory>::type().dot(x, y, out);
}

template <class V, class Memory> double basic_space<V, Memory>::read(slot s) {
  check(s.at != nullptr, fault::usage, "read: there is no slot: give one of this space");
  const turn now(where_);
  return typename space_behind<V, Memory>::type().read(s);
}

template <class V, class Memory> void basic_space<V, Memory>::fetch(cview<double> from, view<double> to) {
  check(from.size == to.size, fault::usage,
        "fetch: slots and places on the host differ in number: give as many of each");
  check((from.data && to.data) || from.empty(), fault::usage, "fetch: slots or places on the host have no memory");
  const turn now(where_);
  typename space_behind<V, Memory>::type().fetch(from, to);
}

template <class V, class Memory> void basic_space<V, Memory>::put(cview<double> from, view<double> to) {
  check(from.size == to.size, fault::usage,
        "put: numbers on the host and slots differ in number: give as many of each");
  check((from.data && to.data) || from.empty(), fault::usage, "put: numbers on the host or slots have no memory");
  const turn now(where_);
  typename space_behind<V, Memory>::type().put(from, to);
}

} // namespace furrow
