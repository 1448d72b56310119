// SPDX-License-Identifier: BSD-3-Clause
#include "cut.hpp"
#include "part.hpp"
#include "tell.hpp"

#include "backends/cpu/parallel.hpp"
#include "distributed/memory.hpp"
#include "generate/part.hpp"

#include <furrow/generate.hpp>

namespace furrow {

part_of_problem make_part(communicator& c, const std::string& spec) {
  part_of_problem p;
  shape2 shape;
  host_array<std::int32_t> lengths;
  alike(c, [&] {
    shape = generator_header(spec).shape;
    lengths = generated_lengths(spec, cpu::part_begin(shape.rows, c.size(), c.rank()),
                                cpu::part_begin(shape.rows, c.size(), c.rank() + 1));
  });
  p.begins = cut_by_lengths(c, as_cview(lengths), shape.rows);
  lengths = {};
  const auto me = std::size_t(c.rank());
  const double share = double(generator_header(spec).stored) / c.size();
  check_memory_of_machine(c, 16 * share);
  alike(c, [&] { p.a = generate_rows(spec, p.begins[me], p.begins[me + 1]); });
  p.name = spec, p.origin = origin_of_generator(spec);
  return p;
}

} // namespace furrow
