// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include "arranging.hpp"
#include "coordinates.hpp"

#include "core/check.hpp"
#include "core/host_room.hpp"
#include "core/parameters.hpp"
#include "solvers/entry.hpp"

#include <algorithm>

namespace furrow {
namespace {

double held(const stats& s, precision p) { return (8 + bytes_of(p)) * double(s.nnz); } ///< by the triplets

} // namespace

wish wish_of(const solve_options& o) {
  constexpr double of_a_solve = 1000;
  return {o.format, o.kernel, o.where.is_gpu() ? std::min(o.expected_products, of_a_solve) : o.expected_products};
}

std::string named_preconditioner(const solve_options& o) {
  if (o.precond != "auto") return o.precond;
  return std::string(o.solver == "auto" ? "jacobi" : find_solver(o.solver).precond);
}

memory_estimate estimate_memory(const choice& c, const stats& s, precision p, const solve_options& o,
                                double rows_on_gpu) {
  const double vector = bytes_of(p) * double(std::max(s.shape.rows, s.shape.cols));
  const layout l = c.format->lay_out(s, p, c.parameters);
  const double making = bytes_to_make(l, s, p);
  const std::string precond = named_preconditioner(o);
  const std::string usual = s.shape.rows == s.shape.cols ? "cg" : "lsmr",
                    solver = o.solver == "auto" ? usual : o.solver;
  const solver_entry& method = find_solver(solver);
  const std::string_view parameters = take_apart(solver).parameters;
  const bool both_ways = method.needs.transposed;
  const double stored = both_ways ? 2 * l.bytes : l.bytes; // A' takes about as much as A
  preconditioner_layout m =
      method.set_up.replaces_m() ? preconditioner_layout{} : lay_out_preconditioner(precond, s, p, o);
  m.making += bytes_of_scaled_triplets(o, s.shape.rows, s.nnz, p);
  const double vectors = vector * double(method.vectors(parameters)) + m.bytes;
  memory_estimate e;
  e.host = 2 * vector + (both_ways ? held(s, p) : 0); // b, x, and the triplets of A'
  if (o.where.is_gpu()) {
    // M is made before A, of which the rows go away when it is stored.
    e.gpu = std::max({stored + vectors + 2 * vector, rows_on_gpu + m.bytes + m.making_on_gpu,
                      rows_on_gpu > 0 ? rows_on_gpu + m.bytes + l.bytes : 0});
    e.host += std::max({making, held(s, p) + m.making, 2 * vector});
  } else {
    e.host += std::max({making + m.bytes, held(s, p) + m.making, stored + vectors});
  }
  if (scales(o) || moves(o))
    e.host = std::max(e.host, 2 * vector + held(s, p) + bytes_to_arrange(o, s.shape.rows, s.nnz, p));
  if (moves(o)) e.host += 2 * vector; // b and x in the other order
  if (method.set_up) {
    const memory_estimate own = method.set_up.estimate(s, parameters, o);
    e.host += own.host, e.gpu += own.gpu;
  }
  return e;
}

memory_estimate estimate_next_memory(const choice& c, const stats& s, precision p, const solve_options& o,
                                     const preconditioner_layout& m, bool m_on_gpu) {
  const double vector = bytes_of(p) * double(std::max(s.shape.rows, s.shape.cols));
  const double stored = c.format->lay_out(s, p, c.parameters).bytes;
  const double vectors = vector * double(find_solver(o.solver).vectors(take_apart(o.solver).parameters));
  const double making = held(s, p) + m.making;
  memory_estimate e;
  e.host = 2 * vector; // b and x
  if (o.where.is_gpu()) {
    e.gpu = stored + 2 * vector + (m_on_gpu ? m.bytes + std::max(vectors, m.making_on_gpu) : vectors);
    e.host += making + (m_on_gpu ? 0 : m.bytes);
  } else {
    e.host += stored + std::max(making, m.bytes + vectors);
  }
  return e;
}

memory_estimate beside_doubles(memory_estimate e, index_t rows, index_t nnz) {
  const double vectors = 16 * double(rows);
  e.host = std::max(e.host, 20 * double(nnz)) + vectors;
  return e;
}

void check_memory(const memory_estimate& needed, const stats& s, precision p, device where, double rows_on_gpu) {
  const double there = held(s, p) + bytes_of(p) * double(s.shape.rows + s.shape.cols);
  const auto must_fit = [](double bytes, host_room available, std::string_view side) {
    if (!available.takes(bytes))
      throw_sentence(fault::memory, "solving needs {:.3g} GB more memory on the {}, of which {:.3g} GB can be had",
                     bytes * 1e-9, side, available.bytes() * 1e-9);
  };
  must_fit(needed.host - there, {}, "host");
  if (where.is_gpu()) must_fit(needed.gpu - rows_on_gpu, double(available_gpu_memory(where.ordinal)), "GPU");
}

memory_estimate estimate_solve_memory(const stats& s, precision p, const solve_options& o) {
  const memory_estimate e = estimate_memory(choose(s, p, o.where, wish_of(o)), s, p, o);
  return p == precision::f32 && o.values == precision::f32 ? beside_doubles(e, s.shape.rows, s.nnz) : e;
}

} // namespace furrow
