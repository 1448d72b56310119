// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/device.hpp>
#include <furrow/operator.hpp>
#include <furrow/stats.hpp>

#include <span>
#include <string>
#include <string_view>

namespace furrow {

enum class precision { f64, f32 };
constexpr double bytes_of(precision p) { return p == precision::f64 ? 8 : 4; }
template <class V> constexpr precision precision_of = sizeof(V) == 8 ? precision::f64 : precision::f32;

struct kernel_entry {
  std::string_view name, about;
};

/// Makes an operator from triplets, which it may take apart. `parameters` is what follows the format's name and a colon
/// ("8:256" of `sell:8:256`), empty for the format's own choice; `kernel` is a name of the entry's list, or "auto".
template <class V>
using make_operator = std::unique_ptr<any_operator<V>> (*)(coo<V> a, std::string_view parameters,
                                                           std::string_view kernel);

/// How one format is made on one kind of device.
struct format_backend {
  std::span<const kernel_entry> kernels;
  make_operator<double> f64 = nullptr; ///< null: this format has no code for this kind of device
  make_operator<float> f32 = nullptr;

  template <class V> make_operator<V> make() const {
    if constexpr (sizeof(V) == 8) return f64;
    else return f32;
  }
};

/// What a matrix would take in a format, known before it is made.
struct layout {
  double bytes = 0;      ///< that the operator stores
  double places = 0;     ///< values stored, padding included: places / nnz is the fill
  std::string refusal{}; ///< why the format does not serve this matrix, as a sentence; empty where it does
  bool exact = true;     ///< otherwise `bytes` is an estimate from samples
  /// Bytes of triplets and helpers that are still there when the matrix is complete; negative: all triplets.
  double beside = -1;
};

/// A format as the rest of the library sees it. One per folder of src/formats; the table is generated.
struct format_entry {
  std::string_view name, about;
  /// Throws `fault::usage` for parameters that make no sense.
  layout (*lay_out)(const stats&, precision, std::string_view parameters);
  format_backend cpu{}, gpu{};
  std::string_view parameters{};                ///< what may follow the name, for people: "[:HEIGHT[:WINDOW]]"
  std::span<const std::string_view> examples{}; ///< parameters that tests run besides the format's own choice

  const format_backend& backend(device d) const { return d.is_gpu() ? gpu : cpu; }
};

/// Bytes of y = A x: the stored matrix, x and y, each once.
inline double bytes_per_apply(const layout& l, const stats& s, precision p) {
  return l.bytes + bytes_of(p) * static_cast<double>(s.shape.rows + s.shape.cols);
}

/// Peak bytes of host memory while a matrix is made from triplets.
inline double bytes_to_make(const layout& l, const stats& s, precision p) {
  const double triplets = (8 + bytes_of(p)) * static_cast<double>(s.nnz);
  const double last = l.bytes + (l.beside < 0 ? triplets : l.beside);
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
/// "sell:8:256", as `choose` takes it.
std::string name_of(const choice& c);
/// The format that moves the fewest bytes a product among those that run on `where` and serve the matrix, or the one
/// named, as NAME or NAME:PARAMETERS. Throws `fault::usage` for names that do not exist on that device, `fault::input`
/// where the named format refuses the matrix.
choice choose(const stats& s, precision p, device where, std::string_view format, std::string_view kernel);

/// An operator on `where` (which must be selected) by that choice.
template <class V> std::unique_ptr<any_operator<V>> make(const choice& c, device where, coo<V> a) {
  return c.format->backend(where).make<V>()(std::move(a), c.parameters, c.kernel);
}

} // namespace furrow
