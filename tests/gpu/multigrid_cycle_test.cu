// SPDX-License-Identifier: BSD-3-Clause
// Cycles of multigrid on the GPU multiply and precondition as those of the host do.
#include "applications.hpp"
#include "multigrid_systems.hpp"

#include "preconditioners/entry.hpp"

#include "kit/elastic_body.hpp"
#include "kit/options.hpp"

#include <furrow/solve.hpp>

namespace furrow {
namespace {

/// x by the host, by the GPU, and by the GPU again, with the bits of the first time. b is random.
struct answers {
  solve_report here, there;
};
answers compare_answers(const coo<double>& a, solve_options o, device gpu) {
  const auto b = kit::random_vector<double>(a.shape.rows, 5);
  const auto answer = [&](device where) {
    host_array<double> x(a.shape.rows, 0.0);
    o.where = where;
    auto report = solve<double>(a, as_cview(b), as_view(x), o);
    return std::pair(std::move(report), std::move(x));
  };
  auto [here, x] = answer(device{});
  auto [there, y] = answer(gpu);
  const auto [again, z] = answer(gpu);
  EXPECT_EQ(there.why, status::converged) << there.message;
  for (index_t i = 0; i < a.shape.rows; ++i) EXPECT_EQ(y[i], z[i]) << i;
  return {std::move(here), std::move(there)};
}

template <class V>
void compare_applications(const coo<double>& matrix, const char* name, device gpu, const solver_needs& needs) {
  const auto a = kit::as_precision<V>(matrix);
  const auto here = make_preconditioner<V>(name, a, device{}, needs);
  const auto there = make_preconditioner<V>(name, a, gpu, needs);
  auto r = kit::random_vector<V>(a.shape.rows, 7);
  for (V& v : r) v *= V(1e-20); // both bring it into range
  // Steps of a K-cycle are quotients of sums, which amplify how levels in single precision round.
  expect_same_product(*here, *there, r, std::string_view(name).starts_with("amg:pairwise") ? 1e-3 : 1e-4);
  EXPECT_EQ(there->stored_bytes(), here->stored_bytes());
}

template <class V>
void compare(const coo<double>& matrix, const char* name, device gpu, const node_coordinates* points = nullptr) {
  SCOPED_TRACE(std::string(name) + ", " + std::to_string(matrix.shape.rows) + " rows");
  try {
    compare_applications<V>(matrix, name, gpu, {{true, true}, {true, true}, false, true, points});
  } catch (const refusal& r) {
    FAIL() << r.message;
  }
}

TEST_F(gpu_multigrid, multiplies_as_the_host_does) {
  auto all = systems();
  all.push_back(generate("elasticity3d:9").a);
  all.push_back(by_nodes(conducting(40, 30, 1, 0, 0.01), 2));
  all.push_back(by_nodes(conducting(12, 11, 9, 0), 6));
  all.push_back(kit::laplacian(20, 20)); // dense, in double
  all.push_back(kit::diagonal({3.0}));
  for (const auto& a : all)
    for (const char* name : {"amg:sa", "amg:sa:1", "amg:sa:3"}) {
      compare<double>(a, name, gpu);
      compare<float>(a, name, gpu);
    }
}

TEST_F(gpu_multigrid, multiplies_on_grids_as_the_host_does) {
  for (const auto& a : grids())
    for (const char* name : {"amg:grid", "amg:grid:1", "amg"}) {
      compare<double>(a, name, gpu);
      compare<float>(a, name, gpu);
    }
}

TEST_F(gpu_multigrid, serves_conjugate_gradients_as_on_the_host) {
  for (const char* name : {"poisson3d:40", "elasticity3d:12", "anisotropic2d:150:0.01"}) {
    SCOPED_TRACE(name);
    const auto [here, there] = compare_answers(generate(name).a, kit::options("cg", "amg:sa", 1e-10), gpu);
    EXPECT_NEAR(double(there.iterations), double(here.iterations), 1);
  }
}

// What is not symmetric.

TEST_F(gpu_multigrid, multiplies_with_what_is_not_symmetric_as_the_host_does) {
  for (const auto& a : winds())
    for (const char* name : {"amg:sa", "amg:sa:1"}) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(a.shape.rows) + " rows");
      compare_applications<double>(a, name, gpu, {});
      compare_applications<float>(a, name, gpu, {});
    }
}

TEST_F(gpu_multigrid, serves_bicgstab_as_on_the_host) {
  for (const auto& a : winds()) {
    SCOPED_TRACE(a.shape.rows);
    const auto [here, there] = compare_answers(a, kit::options("bicgstab", "amg:sa", 1e-9), gpu);
    EXPECT_NEAR(double(there.iterations), double(here.iterations), 2 + 0.1 * double(here.iterations));
    EXPECT_EQ(there.precond_about, here.precond_about);
  }
}

// Rows in pairs: the host sets up, the K-cycle is the device's.

TEST_F(gpu_multigrid, multiplies_in_a_k_cycle_as_the_host_does) {
  for (const auto& a : systems())
    for (const char* name : {"amg:pairwise", "amg:pairwise:2"}) {
      compare<double>(a, name, gpu);
      compare<float>(a, name, gpu);
    }
}

TEST_F(gpu_multigrid, k_cycles_give_zeros_for_zeros) {
  const auto a = kit::laplacian(30, 31, 9);
  const solver_needs flexible{.a = {true, true}, .m = {true, true}, .flexible = true};
  const auto m = make_preconditioner<double>("amg:pairwise", a, gpu, flexible);
  const gpu_array<double> r(host_array<double>(a.shape.rows, 0.0));
  gpu_array<double> z(host_array<double>(a.shape.rows, 1.0));
  m->apply(as_cview(r), as_view(z));
  for (const double v : host_array<double>(z)) ASSERT_EQ(v, 0);
}

TEST_F(gpu_multigrid, serves_flexible_methods_in_a_k_cycle_as_on_the_host) {
  struct one {
    const char *solver, *matrix, *precond;
  };
  for (const auto& [solver, matrix, precond] :
       {one{"fcg", "poisson3d:64", "amg:pairwise"}, one{"fcg", "poisson3d:64", "amg:pairwise:2"},
        one{"fgmres", "poisson2d:200", "amg:pairwise"}, one{"auto", "anisotropic2d:150:0.01", "amg:pairwise"}}) {
    SCOPED_TRACE(std::string(solver) + ", " + matrix + ", " + precond);
    const auto [here, there] = compare_answers(generate(matrix).a, kit::options(solver, precond), gpu);
    EXPECT_EQ(there.iterations, here.iterations);
    EXPECT_EQ(there.precond_about, here.precond_about);
  }
}

// Motions of rigid bodies: nodes of 2 and 3 unknowns first, of 3 and 6 below.

std::vector<kit::elastic_body> bodies() {
  const auto bent = [](double i, double j, double k) {
    return std::array<double, 3>{i + 0.2 * std::sin(j + k), j + 0.15 * std::cos(2 * i) * k,
                                 k + 0.1 * std::sin(3 * i + j)};
  };
  std::vector<kit::elastic_body> all;
  all.push_back(kit::elastic_grid({9, 8, 8}, 3, bent).body(true));
  all.push_back(kit::elastic_grid({60, 3, 2}, 3, bent).body(true));
  all.push_back(kit::elastic_grid({30, 20, 0}, 2, bent).body(true));
  all.push_back(kit::elastic_grid({4, 4, 4}, 3, bent).body(true)); // dense, in double
  return all;
}

TEST_F(gpu_multigrid, multiplies_with_motions_of_rigid_bodies_as_the_host_does) {
  for (const auto& body : bodies())
    for (const char* name : {"amg:sa", "amg:sa:1", "amg"}) {
      compare<double>(body.a, name, gpu, body.points.get());
      compare<float>(body.a, name, gpu, body.points.get());
    }
}

TEST_F(gpu_multigrid, serves_elastic_bodies_with_coordinates_as_on_the_host) {
  for (const auto& body : bodies())
    for (const char* solver : {"cg", "refine:cg", "auto"}) {
      SCOPED_TRACE(std::string(solver) + ", " + std::to_string(body.a.shape.rows) + " rows");
      auto o = kit::options(solver, "amg:sa");
      o.coordinates = body.points;
      const auto [here, there] = compare_answers(body.a, o, gpu);
      EXPECT_EQ(there.iterations, here.iterations);
      EXPECT_EQ(there.precond_about, here.precond_about);
      EXPECT_NE(there.precond_about.find("motions of rigid bodies"), std::string::npos) << there.precond_about;
    }
}

} // namespace
} // namespace furrow
