// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/device.hpp>
#include <furrow/operator.hpp>
#include <furrow/stats.hpp>
#include <furrow/value.hpp>

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Makes an operator from triplets, which it may take apart and trusts: `make` checks them. `parameters` is what
/// follows the format's name and a colon
/// ("8:256" of `sell:8:256`), empty for the format's own choice; `kernel` is a name of the entry's list, with what may
/// follow it, or "auto".
template <class V>
using make_operator = std::unique_ptr<any_operator<V>> (*)(coo<V> a, std::string_view parameters,
                                                           std::string_view kernel);

/// The same operator where the lengths of the rows are known.
template <class V>
using make_measured_operator = std::unique_ptr<any_operator<V>> (*)(measured_coo<V> a, std::string_view parameters,
                                                                    std::string_view kernel);

/// The same from rows that it only reads: what it keeps it copies, and no array is there twice.
template <class V>
using copy_operator = std::unique_ptr<any_operator<V>> (*)(borrowed_rows<V> a, std::string_view parameters,
                                                           std::string_view kernel);

/// Compressed rows in the memory of a GPU (src/matrix/rows_on_gpu.hpp).
template <class V> struct rows_on_gpu;
/// The same from rows on the current GPU, which it reads, and keeps where the format does; with full statistics. The
/// stored arrays are those that `make_operator` stores, and complete when it returns.
template <class V>
using operator_from_rows = std::unique_ptr<any_operator<V>> (*)(const rows_on_gpu<V>& a, const stats& s,
                                                                std::string_view parameters, std::string_view kernel);

/// What a matrix would take in a format, known before it is made.
struct layout {
  double bytes = 0;      ///< that the operator stores
  double places = 0;     ///< values stored, padding included: places / nnz is the fill
  std::string refusal{}; ///< why the format does not serve this matrix, as a sentence; empty where it does
  bool exact = true;     ///< otherwise `bytes` is an estimate from samples
  /// Bytes of triplets and helpers that are still there when the matrix is complete; negative: all triplets.
  double peak_extra_bytes = -1;
  double longest_stored_row = -1; ///< entries of the rows that are stored as rows; negative: as in the matrix
};

/// What the cost models know of a device. Only ratios matter to a choice.
struct machine {
  double read = 0;       ///< bytes a second from beyond the second-level cache
  double cache_read = 0; ///< bytes a second from the second-level cache: of a GPU, or of the threads of a CPU together
  double cache = 0;      ///< bytes that it holds
  double latency = 0;    ///< seconds of the shortest product
  int processors = 1;    ///< multiprocessors of a GPU; 2 for a CPU, whatever its threads
  double last_cache = 0; ///< bytes of the last cache of a CPU; 0: of a GPU
  bool by_intel = true;  ///< the maker of a CPU, whose gathers are fast there
};
/// From what the device says of itself; nothing is measured.
machine typical_machine(device where);

/// What a product by one kernel costs; the cost models read it (src/core/kernel_costs.hpp).
struct kernel_costs;

/// What may follow a kernel's name, as in "vector:lanes=8,block=128": lanes a row, threads a block.
struct kernel_freedom {
  bool lanes = false, block = false;
};

struct kernel_entry {
  std::string_view name, about;
  const kernel_costs* costs = nullptr; ///< null: nobody has measured this kernel, and bytes decide
  kernel_freedom free{};
};

/// How one format is made on one kind of device.
struct format_backend {
  std::span<const kernel_entry> kernels;
  make_operator<double> f64 = nullptr; ///< null: this format has no code for this kind of device
  make_operator<float> f32 = nullptr;
  copy_operator<double> copy_f64 = nullptr; ///< null: rows are copied for `make`
  copy_operator<float> copy_f32 = nullptr;
  operator_from_rows<double> rows_f64 = nullptr; ///< null: rows go through triplets on the host
  operator_from_rows<float> rows_f32 = nullptr;
  make_measured_operator<double> measured_f64 = nullptr; ///< null: lengths of rows are of no use to `make`
  make_measured_operator<float> measured_f32 = nullptr;

  template <class V> make_operator<V> make() const { return for_value<V>(f64, f32); }
  template <class V> copy_operator<V> copy() const { return for_value<V>(copy_f64, copy_f32); }
  template <class V> operator_from_rows<V> from_rows() const { return for_value<V>(rows_f64, rows_f32); }
  template <class V> make_measured_operator<V> measured() const { return for_value<V>(measured_f64, measured_f32); }
};

/// A format as the rest of the library sees it. One per folder of src/formats; the table is generated.
struct format_entry {
  std::string_view name, about;
  /// Throws `fault::usage` for parameters that make no sense.
  layout (*lay_out)(const stats&, precision, std::string_view parameters);
  format_backend cpu{}, gpu{};
  std::string_view parameters{};                ///< what may follow the name, for people: "[:HEIGHT[:WINDOW]]"
  std::span<const std::string_view> examples{}; ///< parameters that tests run besides the format's own choice
  /// Whether zeros are stored between the entries and multiplied: an infinity in x then reaches rows without an entry
  /// there.
  bool multiplies_padding = false;
  /// Parameters that name what statistics of the matrix decide, as far as they are there, so that a conversion does not
  /// look for it again. Null: they decide nothing.
  std::string (*settle)(const stats&, precision, std::string_view parameters) = nullptr;

  const format_backend& backend(device d) const { return d.is_gpu() ? gpu : cpu; }
};

/// Bytes of y = A x: the stored matrix, x and y, each once.
inline double bytes_per_apply(const layout& l, const stats& s, precision p) {
  return l.bytes + bytes_of(p) * static_cast<double>(s.shape.rows + s.shape.cols);
}

/// Entries that one thread may have to take one after the other.
inline double longest_run(const layout& l, const stats& s) {
  return l.longest_stored_row < 0 ? static_cast<double>(s.row_max) : l.longest_stored_row;
}

/// Peak bytes of host memory while a matrix is made from triplets.
inline double bytes_to_make(const layout& l, const stats& s, precision p) {
  const double triplets = (8 + bytes_of(p)) * static_cast<double>(s.nnz);
  const double last = l.bytes + (l.peak_extra_bytes < 0 ? triplets : l.peak_extra_bytes);
  return last > triplets ? last : triplets;
}

/// All formats, sorted by name.
std::span<const format_entry* const> formats();
/// Throws `fault::usage`, naming those that exist, where there is no such format.
const format_entry& find_format(std::string_view name);

/// A format with its parameters and a kernel, by name or "auto", and why.
struct choice {
  const format_entry* format = nullptr;
  std::string parameters, kernel, reason;
};
/// Its parameters, and what the statistics of the matrix decide beside them.
inline std::string settled_parameters(const choice& c, const stats& s, precision p) {
  return c.format->settle ? c.format->settle(s, p, c.parameters) : c.parameters;
}
/// "sell:8:256", as `choose` takes it. Throws `fault::usage` for a choice without a format.
std::string name_of(const choice& c);

/// What is asked for. Names are "auto", a format as NAME or NAME:PARAMETERS, a kernel.
struct wish {
  std::string_view format = "auto", kernel = "auto";
  double expected_products =
      std::numeric_limits<double>::infinity(); ///< products to come: few make a conversion not worth it
  bool finite = true;                          ///< x; otherwise "auto" leaves out formats that multiply padding
};

/// A way to store and multiply a matrix, and what the models expect of it.
struct candidate {
  choice what;
  layout stored;
  double seconds = 0;       ///< of a product
  double setup_seconds = 0; ///< of making the operator
  double cost(double products) const { return products < 1e18 ? setup_seconds + products * seconds : seconds; }
};

/// All formats and kernels that agree with the wish, run on `where`, serve the matrix and fit into the memory; the
/// cheapest first, where what is not csr or coo counts 5 % more. Never empty. The environment's FURROW_FORMAT and
/// FURROW_KERNEL stand for "auto". Throws `fault::usage` for names that do not exist on that device and for statistics
/// that no matrix has, `fault::input` where the named format refuses the matrix, `fault::memory` where nothing fits.
std::vector<candidate> shortlist(const stats& s, precision p, device where, const wish& w = {});

/// The first of the shortlist. Where only the sizes of a matrix are known, "auto" is csr.
choice choose(const stats& s, precision p, device where, const wish& w = {});

/// An operator on `where` (which must be selected) by that choice. Throws `fault::input` for triplets that break a
/// promise, `fault::usage` for a choice that names no format or a kernel that it lacks there, `fault::device` where it
/// has no code for that device.
template <class V> std::unique_ptr<any_operator<V>> make(const choice& c, device where, coo<V> a);

} // namespace furrow
