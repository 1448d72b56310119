// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_look.hpp"
#include "rows_on_gpu.hpp"
#include "short_values.hpp"

#include "backends/cpu/parallel.hpp"
#include "backends/gpu/primitives.hpp"
#include "backends/gpu/staging.hpp"
#include "core/memory_place.hpp"
#include "core/row_offsets.hpp"
#include "wrong_rows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace furrow {
namespace gpu_rows {

/// On their way to the GPU; `send` takes them there.
class sent_arrays {
public:
  template <class T> gpu_array<T> add(cview<T> v) {
    gpu_array<T> there(v.size);
    all_.push_back({there.data(), v.data, there.byte_count()});
    return there;
  }
  /// write(to, first, last): elements of these numbers, by several threads; `read`: bytes of the host for one of them.
  template <class T, class Write> gpu_array<T> make(index_t size, double read, const Write& write) {
    gpu_array<T> there(size);
    gpu::transfer t{there.data(), nullptr, there.byte_count()};
    t.write = [&write](char* room, std::size_t at, std::size_t bytes) {
      write(reinterpret_cast<T*>(room), static_cast<index_t>(at / sizeof(T)),
            static_cast<index_t>((at + bytes) / sizeof(T)));
    };
    // A unit reads some 64 KiB: it takes as long as what is searched for it before.
    const double units = 1024 * sizeof(T) / std::max(read, 4.0 * sizeof(T));
    t.unit = 64 * std::max<std::size_t>(1, static_cast<std::size_t>(units));
    all_.push_back(std::move(t));
    return there;
  }
  void send() { gpu::send_together(all_, gpu::current_queue()); }

private:
  std::vector<gpu::transfer> all_;
};

/// One beyond 32 bits is outside of every matrix.
FURROW_HD std::int32_t narrow_column(std::int64_t col) {
  return col < 0 || col > 0x7fffffff ? -1 : static_cast<std::int32_t>(col);
}

template <class V> struct number_to_value {
  const std::uint8_t* from;
  const V* table;
  V* to;
  FURROW_HD void operator()(index_t k) const { to[k] = table[from[k]]; }
};
template <class V> struct single_to_value {
  const float* from;
  V* to;
  FURROW_HD void operator()(index_t k) const { to[k] = V(from[k]); }
};

/// Values on their way to the GPU, in fewer bytes where nothing is lost. Those in pinned memory go as they are: no
/// thread of the host need touch them. So they do where there are few threads: one finds the numbers of 14 GB/s of
/// values, and copies 29 GB/s.
template <class V> class sent_values {
public:
  sent_values(sent_arrays& all, cview<V> given) : given_(given), short_(may_be_short(given) ? given : cview<V>{}) {
    using form = typename short_values<V>::form;
    if (short_.proposed() == form::numbers) {
      table_ = all.add(cview<V>{short_.table().data(), std::ssize(short_.table())});
      numbers_ = all.make<std::uint8_t>(given.size, sizeof(V), write_numbers_);
    } else if (short_.proposed() == form::single) single_ = all.make<float>(given.size, sizeof(V), write_single_);
    else whole_ = all.add(given);
  }
  sent_values(const sent_values&) = delete; // threads that send call its members
  sent_values& operator=(const sent_values&) = delete;

  /// Behind `send`. Those that did not fit, of which no look had met one, are sent once more.
  gpu_array<V> arrived() {
    if (whole_.size() == given_.size) return std::move(whole_);
    if (misfit_) {
      sent_arrays again;
      whole_ = again.add(given_);
      again.send();
      return std::move(whole_);
    }
    whole_ = gpu_array<V>(given_.size);
    if (numbers_.empty()) gpu::for_each(given_.size, single_to_value<V>{single_.data(), whole_.data()});
    else gpu::for_each(given_.size, number_to_value<V>{numbers_.data(), table_.data(), whole_.data()});
    return std::move(whole_);
  }

private:
  static bool may_be_short(cview<V> given) {
    return !given.empty() && cpu::thread_count() >= 4 && gpu::runtime::is_pageable(given.data);
  }
  template <class Write> void note(const Write& write) {
    if (!misfit_.load(std::memory_order_relaxed) && !write()) misfit_.store(true, std::memory_order_relaxed);
  }

  cview<V> given_;
  short_values<V> short_;
  gpu_array<V> whole_, table_;
  gpu_array<std::uint8_t> numbers_;
  gpu_array<float> single_;
  std::atomic<bool> misfit_ = false;
  std::function<void(std::uint8_t*, index_t, index_t)> write_numbers_ = [this](auto* to, index_t from, index_t end) {
    note([&] { return short_.write_numbers(given_.data + from, end - from, to); });
  };
  std::function<void(float*, index_t, index_t)> write_single_ = [this](auto* to, index_t from, index_t end) {
    note([&] { return short_values<V>::write_single(given_.data + from, end - from, to); });
  };
};

struct narrow_columns_on_gpu {
  const std::int64_t* from;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = narrow_column(from[k]); }
};

template <class V> struct negate {
  const V* from;
  V* to;
  FURROW_HD void operator()(index_t k) const { to[k] = -from[k]; }
};

struct write_row {
  std::int32_t* to;
  FURROW_HD void operator()(index_t i, index_t k) const { to[k] = static_cast<std::int32_t>(i); }
};

template <class V> struct find_diagonal {
  csr<V, index_t, cview> a;
  V* to;
  FURROW_HD void operator()(index_t i) const {
    index_t low = a.row_ptr[i], high = a.row_ptr[i + 1];
    const index_t end = high;
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (a.col[middle] < i) low = middle + 1;
      else high = middle;
    }
    to[i] = low < end && a.col[low] == i ? a.val[low] : V(0);
  }
};

/// Whose arrays they are: throws unless that is where `a.where` says.
template <class V, class I> void check_place(const csr_arrays<V, I>& a) {
  const auto look = [&](std::string_view name, const void* at, bool empty) {
    if (!empty) lie_on_gpu(a.where, std::array{placed{name, place_of(at)}, placed{name, place_of(at)}});
    const memory_place is = empty ? memory_place{} : place_of(at);
    furrow::check(empty || is.gpu, fault::usage, "the rows are said to lie on a GPU, but are in host memory");
  };
  look("row_ptr", a.row_ptr.data, a.row_ptr.empty());
  look("col", a.col.data, a.col.empty());
  look("val", a.val.data, a.val.empty());
}

template <class T> kept_array<T> kept_or_copied(cview<T> v, const std::shared_ptr<const void>& owner, lent_rows lent) {
  if (owner || lent == lent_rows::borrowed) return {v, owner};
  gpu_array<T> own(v.size);
  gpu_memory::copy(own.data(), v.data, own.byte_count());
  return kept_array<T>(std::move(own));
}

template <class T> host_array<T> fetched(cview<T> v) {
  host_array<T> home(v.size);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, v.data, home.byte_count());
  return home;
}

} // namespace gpu_rows

namespace gpu_rows {

/// I: of offsets on their way.
template <class I, class V>
std::optional<rows_on_gpu<V>> send_triplets(const coo<V>& a, rows_look* look, index_t first) {
  sent_arrays all;
  std::atomic<bool> disordered = false;
  const auto write_offsets = [&](I* to, index_t from, index_t end) {
    if (!write_row_offsets(as_cview(a.row), a.shape.rows, from, end, to)) disordered = true;
  };
  const double entries_of_a_row = double(a.nnz()) / double(a.shape.rows + 1);
  const gpu_array<I> given =
      all.make<I>(a.shape.rows + 1, sizeof(I) + sizeof(std::int32_t) * entries_of_a_row, write_offsets);
  gpu_array<std::int32_t> col = all.add(as_cview(a.col));
  sent_values<V> values(all, as_cview(a.val));
  gpu_array<index_t> row_ptr(a.shape.rows + 1);
  look_under_way under_way(a.shape, a.nnz());
  all.send();
  if (disordered) return std::nullopt;
  gpu_array<V> val = values.arrived();
  under_way.enqueue<V>({a.shape, as_cview(row_ptr), as_cview(col), as_cview(val)}, given.data(), first);
  seen_rows seen = under_way.finish();
  if (seen.wrong || seen.disordered) return std::nullopt;
  if (look) *look = std::move(seen.look);
  return rows_on_gpu<V>{a.shape, kept_array(std::move(row_ptr)), kept_array(std::move(col)), kept_array(std::move(val)),
                        std::make_shared<value_facts<V>>()};
}

} // namespace gpu_rows

template <class V> rows_on_gpu<V> send_rows(const coo<V>& a, rows_look* look, index_t first) {
  check_sizes(a);
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max();
  auto rows =
      narrow ? gpu_rows::send_triplets<std::int32_t>(a, look, first) : gpu_rows::send_triplets<index_t>(a, look, first);
  if (rows) return std::move(*rows);
  check_triplets(a); // names the first
  throw error(fault::internal, "triplets were found out of order that the host finds in order");
}

template <class V, class I>
std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, I>& a, rows_look* look, lent_rows lent) {
  using namespace gpu_rows;
  check_lengths(a);
  const bool there = a.where.is_gpu();
  if (there) check_place(a);
  gpu_array<I> given_ptr;
  gpu_array<std::int32_t> own_col; ///< of 32 bits: sent, or made of wider ones
  gpu_array<V> sent_val;
  sent_arrays all;
  std::optional<sent_values<V>> values;
  const auto narrow_columns = [&](std::int32_t* to, index_t from, index_t end) {
    for (index_t k = from; k < end; ++k) to[k - from] = narrow_column(a.col[k]);
  };
  if (!there) {
    given_ptr = all.add(a.row_ptr);
    values.emplace(all, a.val);
    if constexpr (sizeof(I) == 4) own_col = all.add(a.col);
    else own_col = all.make<std::int32_t>(a.col.size, sizeof(I), narrow_columns);
  }
  all.send();
  if (values) sent_val = values->arrived();
  gpu_array<index_t> row_ptr(a.shape.rows + 1);
  const std::int32_t* col = own_col.data();
  if (there) {
    if constexpr (sizeof(I) == 4) col = a.col.data;
    else {
      own_col = gpu_array<std::int32_t>(a.col.size);
      gpu::for_each(a.col.size, narrow_columns_on_gpu{a.col.data, own_col.data()});
      col = own_col.data();
    }
  }
  const cview<V> val = there ? a.val : as_cview(sent_val);
  look_under_way first(a.shape, a.col.size);
  first.enqueue<V>({a.shape, as_cview(row_ptr), {col, a.col.size}, val}, there ? a.row_ptr.data : given_ptr.data());
  seen_rows seen = first.finish();
  if (seen.wrong) { // the host names what is wrong
    if (there) refuse_rows(brought_home(a));
    else refuse_rows(a);
  }
  if (seen.disordered) return std::nullopt;
  if (look) *look = std::move(seen.look);
  const index_t nnz = seen.entries;
  rows_on_gpu<V> rows{a.shape, kept_array<index_t>(std::move(row_ptr)), {}, {}, std::make_shared<value_facts<V>>()};
  const cview<V> given_val = part(a.val, 0, nnz);
  rows.val = there ? kept_or_copied(given_val, a.owner, lent) : kept_array<V>(std::move(sent_val), nnz);
  if constexpr (sizeof(I) == 4) {
    if (there) {
      const cview<std::int32_t> given = part(a.col, 0, nnz);
      rows.col = kept_or_copied(given, a.owner, lent);
      return rows;
    }
  }
  rows.col = kept_array<std::int32_t>(std::move(own_col), nnz);
  return rows;
}

template <class V> coo<V> bring_home(const rows_on_gpu<V>& a) {
  gpu_array<std::int32_t> row(a.nnz());
  gpu::for_each_entry(a.shape.rows, a.row_ptr.data(), a.nnz(), gpu_rows::write_row{row.data()});
  return {a.shape, host_array<std::int32_t>(row), to_host(a.col), to_host(a.val)};
}

template <class V, class I> csr_arrays<V, I> brought_home(const csr_arrays<V, I>& a) {
  struct arrays {
    host_array<I> row_ptr, col;
    host_array<V> val;
  };
  auto home = std::make_shared<arrays>(
      arrays{gpu_rows::fetched(a.row_ptr), gpu_rows::fetched(a.col), gpu_rows::fetched(a.val)});
  return {a.shape, as_cview(home->row_ptr), as_cview(home->col), as_cview(home->val), {}, home};
}

template <class V> rows_on_gpu<V> negated(const rows_on_gpu<V>& a) {
  gpu_array<V> val(a.nnz());
  gpu::for_each(a.nnz(), gpu_rows::negate<V>{a.val.data(), val.data()});
  return {a.shape, a.row_ptr, a.col, kept_array<V>(std::move(val)), std::make_shared<value_facts<V>>()};
}

template <class V> gpu_array<V> diagonal_of(const rows_on_gpu<V>& a) {
  gpu_array<V> diagonal(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_rows::find_diagonal<V>{a.view(), diagonal.data()});
  return diagonal;
}

#define FURROW_ROWS(V)                                                                                                 \
  template rows_on_gpu<V> send_rows(const coo<V>&, rows_look*, index_t);                                               \
  template std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, std::int32_t>&, rows_look*, lent_rows);         \
  template std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, std::int64_t>&, rows_look*, lent_rows);         \
  template coo<V> bring_home(const rows_on_gpu<V>&);                                                                   \
  template csr_arrays<V, std::int32_t> brought_home(const csr_arrays<V, std::int32_t>&);                               \
  template csr_arrays<V, std::int64_t> brought_home(const csr_arrays<V, std::int64_t>&);                               \
  template rows_on_gpu<V> negated(const rows_on_gpu<V>&);                                                              \
  template gpu_array<V> diagonal_of(const rows_on_gpu<V>&);
FURROW_ROWS(double)
FURROW_ROWS(float)
#undef FURROW_ROWS

} // namespace furrow
