// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/coo/triplets.hpp"
#include "formats/ell/ell.hpp"

namespace furrow {

/// The first entries of each row in ell, what longer rows have beyond its width in triplets. One definition, three
/// storages: host_array, gpu_array, cview. Bell and Garland 2008, section 2.5.
template <class V, template <class> class Array> struct hyb {
  shape2 shape;
  ell<V, Array> regular;   ///< the first regular.width entries of each row
  triplets<V, Array> rest; ///< entries of the rows that are full in `regular`, right of those there

  template <template <class> class To, class F> hyb<V, To> map(F f) const {
    return {shape, regular.template map<To>(f), rest.template map<To>(f)};
  }
};

} // namespace furrow
