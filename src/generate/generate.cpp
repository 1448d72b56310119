// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include <furrow/device.hpp>
#include <furrow/generate.hpp>

#include "entry.hpp"
#include "part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace furrow {

extern const generator_entry poisson1d, poisson2d, poisson3d, stencil2d9, stencil3d27, anisotropic2d, convection2d,
    disc2d, ball3d, varying3d, elasticity3d, random_rows, banded, powerlaw, rectangular, dense;

namespace {

constexpr const generator_entry* table[] = {
    &poisson1d, &poisson2d, &poisson3d,    &stencil2d9,  &stencil3d27, &anisotropic2d, &convection2d, &disc2d,
    &ball3d,    &varying3d, &elasticity3d, &random_rows, &banded,      &powerlaw,      &rectangular,  &dense,
};

const generator_entry& find_generator(std::string_view spec) {
  const std::string_view wanted = spec.substr(0, spec.find(':'));
  std::vector<std::string_view> names;
  for (const auto* g : table) {
    if (g->name() == wanted) return *g;
    names.push_back(g->name());
  }
  throw error(fault::usage,
              fmt::format("there is no generator '{}': choose one of {}", wanted, fmt::join(names, ", ")));
}

} // namespace

std::vector<generator_info> generators() {
  std::vector<generator_info> all;
  for (const auto* g : table) all.push_back({std::string(g->usage), std::string(g->about), std::string(g->example)});
  return all;
}

bool is_generator(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return std::ranges::all_of(text.substr(0, colon), word) && text.find('/') == std::string_view::npos;
}

matrix_header generator_header(std::string_view spec) {
  const auto& g = find_generator(spec);
  return g.header(arguments(spec, g.usage, g.example));
}

problem generate(std::string_view spec) {
  const auto& g = find_generator(spec);
  const arguments words(spec, g.usage, g.example);
  const matrix_header head = g.header(words);
  const double bytes = 16 * double(head.stored);
  check(bytes <= double(available_host_memory()), fault::memory,
        "{} takes {:.3g} GB of memory and {:.3g} GB are available", spec, bytes * 1e-9,
        double(available_host_memory()) * 1e-9);
  problem p;
  p.a = g.make(words, 0, head.shape.rows);
  p.name = spec;
  p.origin = origin_of_generator(spec);
  return p;
}

std::string origin_of_generator(std::string_view spec) {
  return fmt::format("generator: {}", find_generator(spec).about);
}

host_array<std::int32_t> generated_lengths(std::string_view spec, index_t first, index_t last) {
  const auto& g = find_generator(spec);
  return g.lengths(arguments(spec, g.usage, g.example), first, last);
}

coo<double> generate_rows(std::string_view spec, index_t first, index_t last) {
  const auto& g = find_generator(spec);
  return g.make(arguments(spec, g.usage, g.example), first, last);
}

vector_columns generator_coordinates(std::string_view spec) {
  const auto& g = find_generator(spec);
  const arguments words(spec, g.usage, g.example);
  check(g.coordinates != nullptr, fault::usage,
        "the unknowns of {} are no displacements of nodes: elasticity3d has coordinates", spec);
  return g.coordinates(words);
}

} // namespace furrow
