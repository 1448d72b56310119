// SPDX-License-Identifier: BSD-3-Clause
#include "vectors.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"

#include <furrow/io.hpp>
#include <furrow/value.hpp>

#include <cmath>

namespace furrow::cli {

template <class V>
host_array<V> read_vector_for(const std::string& file, std::string_view option, index_t size, std::string_view of) {
  // A vector of rows is refused as soon as the file shows its length.
  host_array<double> values = of == "row" ? read_vector(file, size) : read_vector(file);
  check(values.size() == size, fault::input, "{}: has {}, but the matrix has {}: {} wants a number for each", file,
        counted(values.size(), "element"), counted(size, of), option);
  if constexpr (is_wide<V>) {
    return values;
  } else {
    host_array<V> narrow(size);
    for (index_t i = 0; i < size; ++i) {
      narrow[i] = static_cast<V>(values[i]);
      check(std::isfinite(narrow[i]) || !std::isfinite(values[i]), fault::input,
            "{}: element {} is {}, too large for f32: choose --precision f64", file, i + 1, values[i]);
    }
    return narrow;
  }
}

vector_columns read_vectors_for(const std::string& file, std::string_view option, index_t size, std::string_view of) {
  vector_columns v = of == "row" ? read_vectors(file, size) : read_vectors(file);
  check(v.values.size() == size * v.count, fault::input,
        "{}: has {}{}, but the matrix has {}: {} wants a number for each", file,
        counted(v.values.size() / v.count, "element"), v.count > 1 ? " a column" : "", counted(size, of), option);
  return v;
}

template <class V> void write_answer(const host_array<V>& x, const std::string& file) {
  if constexpr (is_wide<V>) {
    write_vector(as_cview(x), file);
  } else {
    host_array<double> wide(x.size());
    std::copy(x.begin(), x.end(), wide.begin());
    write_vector(as_cview(wide), file);
  }
}

const std::vector<std::string>& vector_endings() {
  static const std::vector<std::string> all{".mtx", ".mtx.gz", ".npy", ".petsc", ".txt", ".txt.gz", ".csv", ".csv.gz"};
  return all;
}

template host_array<double> read_vector_for(const std::string&, std::string_view, index_t, std::string_view);
template host_array<float> read_vector_for(const std::string&, std::string_view, index_t, std::string_view);
template void write_answer(const host_array<double>&, const std::string&);
template void write_answer(const host_array<float>&, const std::string&);

} // namespace furrow::cli
