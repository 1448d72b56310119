// SPDX-License-Identifier: BSD-3-Clause
#include "assemble_parts.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace furrow::io {
namespace {

/// Whether the entries of the whole file are strictly ascending by columns, or by rows: then so are, in every row, the
/// entries in the order of the file, mirrored ones too.
bool is_ascending(const listed_entries& e) {
  bool by_columns = true, by_rows = true;
  index_t last = -1;
  for (const block& b : e.blocks) {
    if (b.count == 0) continue;
    by_columns &= b.by_columns, by_rows &= b.by_rows;
    if (last >= 0) {
      const auto key = [](std::int32_t major, std::int32_t minor) { return index_t(major) << 32 | minor; };
      by_columns &= key(e.col[last], e.row[last]) < key(e.col[b.first], e.row[b.first]);
      by_rows &= key(e.row[last], e.col[last]) < key(e.row[b.first], e.col[b.first]);
    }
    last = b.first + b.count - 1;
  }
  return by_columns || by_rows;
}

/// How many threads sort: their cursors together take no more than an index of every entry.
index_t parts_of(const matrix_header& head) {
  return std::clamp<index_t>(head.stored / std::max<index_t>(head.shape.rows, 1), 1, cpu::thread_count());
}

/// The order of the entries by rows, stable: a counting sort. The file is cut into parts, and each has a cursor of its
/// own into every row, so that no thread looks at the entries of another and the result does not depend on how many
/// parts there are.
template <class O> class row_sort {
public:
  explicit row_sort(const listed_entries& e) : e_(e), mirrored_(is_mirrored(e.head)), rows_(e.head.shape.rows) {
    cut_blocks(parts_of(e.head));
    cursors_ = host_array<O>((parts() + 1) * rows_ + 1);
    count();
    scan();
    ascending_ = is_ascending(e);
  }

  /// Calls put(place, k, mirrored) for every entry k, with its place in the order by rows. At most twice.
  template <class Put> void place(Put put) {
    const bool again = std::exchange(placed_, true);
    cpu::for_each_task(parts(), [&](index_t p) {
      O* const at = cursors_of(again ? p : p + 1); // the first time has left cursors p where part p begins
      if (!mirrored_) {
        for_each_entry(p, [&](index_t k) { put(static_cast<index_t>(at[e_.row[k]]++), k, false); });
        return;
      }
      // Files go by columns: the cursor of the column, where the mirrored entries go, stays in a register.
      std::int32_t column = 0;
      O next = rows_ > 0 ? at[0] : 0;
      for_each_entry(p, [&](index_t k) {
        const std::int32_t i = e_.row[k], j = e_.col[k];
        if (j != column) {
          at[column] = next;
          next = at[column = j];
        }
        if (i != j) put(static_cast<index_t>(at[i]++), k, false);
        put(static_cast<index_t>(next++), k, i != j);
      });
      if (rows_ > 0) at[column] = next;
    });
  }

  /// Writes a.row and tidies the rows, after the last pass.
  void finish(coo<double>& a) {
    O* const start = cursors_of(parts()) - 1; // of the last part, which have come to the ends of the rows
    start[0] = 0;
    const cview<O> offsets{start, rows_ + 1};
    finish_rows(a, offsets, balanced_rows(offsets, cpu::thread_count()), ascending_);
  }

private:
  index_t parts() const { return static_cast<index_t>(first_block_.size()) - 1; }
  /// Row i of cursors p + 1 is where the next entry of part p in that row goes.
  O* cursors_of(index_t p) { return cursors_.data() + 1 + p * rows_; }

  void cut_blocks(index_t parts) {
    index_t before = 0;
    first_block_ = {0};
    for (std::size_t b = 0; b < e_.blocks.size(); ++b) {
      while (static_cast<index_t>(first_block_.size()) < parts &&
             before >= cpu::part_begin(e_.head.stored, parts, static_cast<index_t>(first_block_.size())))
        first_block_.push_back(b);
      before += e_.blocks[b].count;
    }
    first_block_.resize(static_cast<std::size_t>(parts) + 1, e_.blocks.size());
  }

  template <class Visit> void for_each_entry(index_t p, Visit visit) const {
    for (std::size_t b = first_block_[static_cast<std::size_t>(p)]; b < first_block_[static_cast<std::size_t>(p) + 1];
         ++b)
      for (index_t k = e_.blocks[b].first, end = k + e_.blocks[b].count; k < end; ++k) visit(k);
  }

  void count() {
    cpu::for_each_task(parts(), [&](index_t p) {
      O* const n = cursors_of(p + 1);
      std::fill(n, n + rows_, O(0));
      for_each_entry(p, [&](index_t k) { ++n[e_.row[k]]; });
      if (!mirrored_) return;
      std::int32_t column = 0;
      O more = 0; // entries of the column off the diagonal
      for_each_entry(p, [&](index_t k) {
        if (e_.col[k] != column) {
          n[column] += more;
          column = e_.col[k], more = 0;
        }
        more += e_.row[k] != column;
      });
      if (rows_ > 0) n[column] += more;
    });
  }

  /// Counts become cursors; cursors 0 the starts of the rows.
  void scan() {
    const index_t chunks = cpu::thread_count();
    std::vector<O> total(static_cast<std::size_t>(chunks) + 1, 0);
    cpu::for_each_task(chunks, [&](index_t c) {
      O sum = 0;
      for (index_t p = 1; p <= parts(); ++p)
        for (index_t i = cpu::part_begin(rows_, chunks, c); i < cpu::part_begin(rows_, chunks, c + 1); ++i)
          sum += cursors_of(p)[i];
      total[static_cast<std::size_t>(c) + 1] = sum;
    });
    std::inclusive_scan(total.begin(), total.end(), total.begin());
    cpu::for_each_task(chunks, [&](index_t c) {
      O next = total[static_cast<std::size_t>(c)];
      for (index_t i = cpu::part_begin(rows_, chunks, c); i < cpu::part_begin(rows_, chunks, c + 1); ++i) {
        cursors_of(0)[i] = next;
        for (index_t p = 1; p <= parts(); ++p) {
          O& n = cursors_of(p)[i];
          next += n;
          n = next - n;
        }
      }
    });
  }

  const listed_entries& e_;
  bool mirrored_, ascending_ = false, placed_ = false;
  index_t rows_;
  std::vector<std::size_t> first_block_; ///< of every part
  host_array<O> cursors_;
};

void fill_with_ones(host_array<double>& values) {
  cpu::for_each_range(values.size(), 1 << 15, [&](index_t first, index_t last) {
    std::fill(values.data() + first, values.data() + last, 1.0);
  });
}

template <class O> coo<double> sort_general(const listed_entries& e, entries& owned) {
  const index_t n = e.head.stored;
  coo<double> a;
  a.shape = e.head.shape;
  row_sort<O> sort(e);
  a.val = host_array<double>(n); // each array goes as soon as it can: the peak is 24 bytes an entry, not 28
  if (e.val.empty()) fill_with_ones(a.val);
  else sort.place([&](index_t to, index_t k, bool) { a.val[to] = e.val[k]; });
  owned.val = {};
  a.col = host_array<std::int32_t>(n);
  sort.place([&](index_t to, index_t k, bool) { a.col[to] = e.col[k]; });
  owned.row = {}, owned.col = {};
  sort.finish(a);
  return a;
}

template <class O> coo<double> sort_mirrored(const listed_entries& e, entries& owned) {
  const index_t n = 2 * e.head.stored - e.diagonal;
  const bool valued = !e.val.empty();
  const double sign = e.head.symmetry == matrix_header::symmetry::skew_symmetric ? -1 : 1;
  coo<double> a;
  a.shape = e.head.shape;
  row_sort<O> sort(e);
  a.col = host_array<std::int32_t>(n);
  a.val = host_array<double>(n);
  sort.place([&](index_t to, index_t k, bool m) {
    a.col[to] = m ? e.row[k] : e.col[k];
    a.val[to] = !valued ? 1.0 : m ? sign * e.val[k] : e.val[k];
  });
  owned.row = {}, owned.col = {}, owned.val = {};
  sort.finish(a);
  return a;
}

} // namespace

coo<double> assemble(entries&& e) {
  if (e.head.layout == matrix_header::layout::array) return assemble_dense(std::move(e));
  return assemble(e.list(), e);
}

coo<double> assemble(const listed_entries& e, entries& owned) {
  if (is_hypersparse(e.head)) return assemble_hypersparse(e, owned);
  const bool narrow = 2 * e.head.stored < index_t(std::numeric_limits<std::uint32_t>::max());
  if (is_mirrored(e.head)) return narrow ? sort_mirrored<std::uint32_t>(e, owned) : sort_mirrored<index_t>(e, owned);
  return narrow ? sort_general<std::uint32_t>(e, owned) : sort_general<index_t>(e, owned);
}

double estimate_assembly(const matrix_header& head) {
  const auto stored = static_cast<double>(head.stored), rows = static_cast<double>(head.shape.rows);
  const bool valued = head.field != matrix_header::field::pattern;
  if (head.layout == matrix_header::layout::array) return 16 * rows * static_cast<double>(head.shape.cols);
  const double read = (valued ? 16 : 8) * stored;
  const bool skew = head.symmetry == matrix_header::symmetry::skew_symmetric;
  const double entries = is_mirrored(head) ? 2 * stored - (skew ? 0 : std::min(stored, rows)) : stored;
  if (is_hypersparse(head)) return read + 40 * entries;
  const double cursors = (2 * stored < 4294967295.0 ? 4 : 8) * rows * static_cast<double>(parts_of(head) + 1);
  const double sorting = is_mirrored(head) ? read + 12 * entries : (valued ? 24 : 16) * stored;
  return std::max(sorting, 16 * entries) + cursors;
}

} // namespace furrow::io
