// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "chebyshev.hpp"

#include "formats/csr/csr.hpp"
#include "formats/dia/dia.hpp"
#include "grid/axis_transfer.hpp"

#include <furrow/operator.hpp>

#include <string>
#include <utility>
#include <vector>

/// What a cycle needs, and nothing else: arrays that lie on a device as they lie here.
namespace furrow::amg {

template <class W, template <class> class Array = host_array> using rows = csr<W, index_t, Array>;

template <class W, template <class> class Array = host_array> struct level {
  rows<W, Array> a;        ///< nothing but its shape where there are diagonals, or a dense inverse
  dia<W, Array> diagonals; ///< the same matrix where that is smaller
  rows<W, Array> p, r;     ///< to the next level; empty on the last; nothing but their shapes where there are axes
  std::vector<axis_transfer<W, Array>> axes{}; ///< of a grid: the same P, one direction after the other
  Array<W> inverse;                            ///< of the diagonal blocks: block numbers a row
  int block = 1;
  double lambda = 1; ///< of D^-1 A, or more
  index_t size() const { return a.shape.rows; }
  bool last() const { return r.shape.rows == 0; }
  bool by_diagonals() const { return !diagonals.offset.empty(); }

  template <template <class> class To, class F> level<W, To> map(F f) const {
    std::vector<axis_transfer<W, To>> ways;
    for (const auto& t : axes) ways.push_back(t.template map<To>(f));
    return {a.template map<To>(f),
            diagonals.template map<To>(f),
            p.template map<To>(f),
            r.template map<To>(f),
            std::move(ways),
            f(inverse),
            block,
            lambda};
  }
};

template <class W, template <class> class Array = host_array> struct hierarchy {
  std::vector<level<W, Array>> levels;
  Array<W> coarsest; ///< the inverse of the last A, row by row; empty: the last level is only smoothed
  std::vector<multigrid_level> facts;
  std::string reason; ///< why it ends where it ends
  double scale = 1;   ///< a power of two: of A in the hierarchy
  smoother_steps steps{};
};

} // namespace furrow::amg
