// SPDX-License-Identifier: BSD-3-Clause
#include "load/tell.hpp"
#include "numbers_on_their_way.hpp"

#include "core/check.hpp"
#include "io/commented_vector.hpp"
#include "io/input.hpp"

#include <furrow/load_on_ranks.hpp>

namespace furrow {

host_array<double> read_vector_on_ranks(communicator& c, const source* from, index_t rows) {
  return as_one(c, [&] {
    numbers_on_their_way way(c, rows);
    std::optional<error> failed;
    if (c.rank() > 0) way.follow();
    else {
      keep_failure(failed, [&] {
        const auto read = io::read_vector_to(*from, way.size(), [&](index_t, cview<double> some) { way.put(some); });
        check(read.count == 1, fault::usage, "{}: holds {} vectors: ranks solve for one right-hand side",
              from->opened().name(), read.count);
        way.put(as_cview(read.values));
      });
      way.end();
    }
    throw_first_fault(c, failed);
    return std::move(way.mine());
  });
}

} // namespace furrow
