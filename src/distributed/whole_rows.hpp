// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows_of_rank.hpp"

#include "core/row_offsets.hpp"

#include <algorithm>

namespace furrow {

/// The rows of a rank with their entries in `own` and in `far`, on the host. Two offsets a row are kept.
template <class V> class whole_rows {
public:
  struct range {
    index_t begin = 0, end = 0;
    index_t size() const { return end - begin; }
  };

  explicit whole_rows(const rows_of_rank<V>& a)
      : far_rows_(as_cview(a.far_rows)), own_(offsets_of_rows<index_t>(a.own.row, a.own.shape.rows)),
        far_(offsets_of_rows<index_t>(a.far.row, a.far.shape.rows)) {}

  index_t count() const { return own_.size() - 1; }
  /// f(row, range in own, range in far) of the rows [first, last), in order.
  template <class F> void each(index_t first, index_t last, F f) const {
    index_t next = std::lower_bound(far_rows_.data, far_rows_.data + far_rows_.size, first) - far_rows_.data;
    for (index_t i = first; i < last; ++i) {
      range far;
      if (next < far_rows_.size && far_rows_[next] == i) far = {far_[next], far_[next + 1]}, ++next;
      f(i, range{own_[i], own_[i + 1]}, far);
    }
  }

private:
  cview<std::int32_t> far_rows_;
  host_array<index_t> own_, far_;
};

} // namespace furrow
