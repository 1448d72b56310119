// SPDX-License-Identifier: BSD-3-Clause
// A program on ranks of MPI of which one fails while the others solve: tests/cli/ranks_faults_test.py begins it by
// mpirun.
//   fails_alone watcher   rank 0's watcher throws in the middle of a solve
//   fails_alone caller    the last rank throws before it solves, and its program says so to the others
//   fails_alone leaves    the last rank ends without a word
#include <furrow/generate.hpp>
#include <furrow/ranks.hpp>

#include <cstdio>
#include <exception>
#include <string_view>

namespace {

using namespace furrow;

void solve(communicator& c, std::string_view how) {
  if (how == "caller" && c.rank() == c.size() - 1) throw error(fault::input, "its rows are not there");
  if (how == "leaves" && c.rank() == c.size() - 1) std::_Exit(7);
  solve_options o;
  o.solver = "cg", o.precond = "none", o.rtol = 1e-15, o.max_iterations = 100000000; // longer than anybody waits
  if (how == "watcher")
    o.watch = [](const progress& p) -> bool {
      return p.seconds < 0.3 || (throw error(fault::input, "seen enough"), true);
    };
  coo<double> a;
  host_array<double> b, x;
  if (c.rank() == 0) {
    a = generate("poisson2d:600").a;
    b = host_array<double>(a.shape.rows, 1.0), x = host_array<double>(a.shape.rows, 0.0);
  }
  solve_from_first<double>(c, std::move(a), as_cview(b), as_view(x), o);
}

} // namespace

int main(int count, char** words) {
  const auto all = furrow::open_mpi();
  try {
    solve(*all, count > 1 ? words[1] : "");
  } catch (const furrow::error& e) {
    all->abort(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "furrow: %s\n", e.what());
    return 5;
  }
  return 0;
}
