// SPDX-License-Identifier: BSD-3-Clause
// Files and generators.
#include "matrix.hpp"

#include "core/printable.hpp"
#include "io/ending.hpp"

#include <furrow/generate.hpp>
#include <furrow/io.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <limits>
#include <string>

namespace furrow::python {
namespace {

/// An array that keeps what it shows.
template <class T> nb::object shown(host_array<T> values) {
  auto* const kept = new host_array<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<host_array<T>*>(p); });
  const std::size_t shape[] = {static_cast<std::size_t>(kept->size())};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), 1, shape, owner));
}

template <class I> host_array<I> offsets(const coo<double>& a) {
  host_array<I> ptr(a.shape.rows + 1, I(0));
  for (const std::int32_t r : a.row) ++ptr[r + 1];
  for (index_t r = 0; r < a.shape.rows; ++r) ptr[r + 1] = static_cast<I>(ptr[r + 1] + ptr[r]);
  return ptr;
}

/// indptr as wide as it has to be.
struct rows_and_rest {
  problem p;
  host_array<std::int32_t> narrow{};
  host_array<std::int64_t> wide{};
};

rows_and_rest with_rows(problem p) {
  rows_and_rest r{std::move(p)};
  if (r.p.a.nnz() <= std::numeric_limits<std::int32_t>::max()) r.narrow = offsets<std::int32_t>(r.p.a);
  else r.wide = offsets<std::int64_t>(r.p.a);
  return r;
}

nb::dict dict_of_problem(rows_and_rest r) {
  nb::dict d;
  d["shape"] = nb::make_tuple(r.p.a.shape.rows, r.p.a.shape.cols);
  d["indptr"] = r.wide.empty() ? shown(std::move(r.narrow)) : shown(std::move(r.wide));
  d["indices"] = shown(std::move(r.p.a.col));
  d["data"] = shown(std::move(r.p.a.val));
  d["b"] = r.p.b ? shown(std::move(*r.p.b)) : nb::object(nb::none());
  d["name"] = printable(r.p.name);
  d["origin"] = r.p.origin;
  return d;
}

nb::dict read_problem(const nb::bytes& name) {
  std::string file = file_of(name);
  return dict_of_problem(interruptible([file = std::move(file)] { return with_rows(read_matrix(source(file))); }));
}
nb::dict generated(std::string spec) {
  return dict_of_problem(interruptible([spec = std::move(spec)] { return with_rows(generate(spec)); }));
}
nb::object vector_of(const nb::bytes& name) {
  std::string file = file_of(name);
  return shown(interruptible([file = std::move(file)] { return read_vector(source(file)); }));
}

nb::dict header(const nb::bytes& name) {
  std::string file = file_of(name);
  const matrix_header h = interruptible([file = std::move(file)] { return load_header(file); });
  constexpr const char* fields[] = {"real", "integer", "pattern"};
  constexpr const char* symmetries[] = {"general", "symmetric", "skew-symmetric"};
  nb::dict d;
  d["shape"] = nb::make_tuple(h.shape.rows, h.shape.cols);
  d["stored"] = h.stored;
  d["layout"] = h.layout == matrix_header::layout::coordinate ? "coordinate" : "array";
  d["field"] = fields[static_cast<int>(h.field)];
  d["symmetry"] = symmetries[static_cast<int>(h.symmetry)];
  return d;
}

void write(const nb::bytes& name, const nb::object& indptr, const nb::object& indices, const nb::object& data,
           index_t rows, index_t cols, std::string comment) {
  std::string file = file_of(name);
  auto given = rows_of<double>(indptr, indices, data, {rows, cols});
  interruptible([given = std::move(given), file = std::move(file), comment = std::move(comment)] {
    const coo<double> a = std::visit([](const auto& r) { return to_coo(r); }, given.arrays);
    const std::string stem = std::filesystem::path(file).stem().string(); // as a file without a place for it is named
    if (io::has_ending(file, ".furrow")) write_cache({a, {}, stem, "written by Python"}, file);
    else if (io::has_ending(file, ".petsc")) write_petsc({a, {}, {}, {}}, file);
    else write_matrix(a, file, comment);
    return true;
  });
}

void write_numbers(const nb::bytes& name, const nb::object& x, index_t count) {
  const std::string file = file_of(name);
  const buffer from(x, false);
  const auto in = from.read<double>();
  const without_lock unlocked;
  write_vectors(in, count, file);
}

nb::list kinds() {
  nb::list all;
  for (const auto& g : generators()) all.append(nb::make_tuple(g.usage, g.about, g.example));
  return all;
}

} // namespace

void bind_inputs(nb::module_& m) {
  m.def("read", &read_problem);
  m.def("read_vector", &vector_of);
  m.def("header", &header);
  m.def("generate", &generated);
  m.def("generators", &kinds);
  m.def("write", &write);
  m.def("write_vector", &write_numbers);
}

} // namespace furrow::python
