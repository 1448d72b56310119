// SPDX-License-Identifier: BSD-3-Clause
#include "matrices.hpp"
#include "random.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace furrow::kit {
namespace {

/// Row r gets length(r) entries in random places.
coo<double> random_rows(
    shape2 shape, const std::function<index_t(index_t)>& length, std::uint64_t seed,
    const std::function<double(splitmix&)>& value = [](splitmix& s) { return s.value(); }) {
  splitmix random(seed);
  std::vector<triplet> entries;
  std::vector<char> taken(static_cast<std::size_t>(shape.cols));
  for (index_t r = 0; r < shape.rows; ++r) {
    std::fill(taken.begin(), taken.end(), char(0));
    for (index_t left = std::min(length(r), shape.cols); left > 0; --left) {
      index_t c = random.below(shape.cols);
      while (taken[static_cast<std::size_t>(c)]) c = (c + 1) % shape.cols;
      taken[static_cast<std::size_t>(c)] = 1;
      entries.push_back({r, c, value(random)});
    }
  }
  return assemble(shape, std::move(entries));
}

coo<double> dense(shape2 shape, std::uint64_t seed) {
  return random_rows(
      shape, [&](index_t) { return shape.cols; }, seed);
}

/// A diagonal crossed by one full row or one full column.
coo<double> cross(index_t n, index_t at, bool row) {
  splitmix random(17);
  std::vector<triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    if (i != at) entries.push_back({i, i, random.value()});
    entries.push_back(row ? triplet{at, i, random.value()} : triplet{i, at, random.value()});
  }
  return assemble({n, n}, std::move(entries));
}

coo<double> unsorted_with_duplicates() {
  splitmix random(23);
  std::vector<triplet> entries;
  for (int k = 0; k < 600; ++k) entries.push_back({random.below(40), random.below(40), random.value()});
  return assemble({40, 40}, std::move(entries));
}

coo<double> with_explicit_zeros() {
  auto a = random_rows(
      {60, 60}, [](index_t) { return 7; }, 29);
  for (index_t k = 0; k < a.nnz(); k += 3) a.val[k] = 0;
  return a;
}

/// Row r has an entry in column r + d for every d of `diagonals` for which there is such a column.
coo<double> banded(shape2 shape, const std::vector<index_t>& diagonals, std::uint64_t seed) {
  splitmix random(seed);
  std::vector<triplet> entries;
  for (index_t r = 0; r < shape.rows; ++r)
    for (const index_t d : diagonals)
      if (r + d >= 0 && r + d < shape.cols) entries.push_back({r, r + d, random.value()});
  return assemble(shape, std::move(entries));
}

/// A Laplacian on `nx` x `ny` points around a circle: those inside it have a row of 1 on the diagonal alone, those
/// beside it and every 17th have a diagonal of their own, and so do 40 rows one after the other. One row of them is
/// long.
coo<double> grid_around_a_circle(index_t nx, index_t ny) {
  const auto inside = [&](index_t i) {
    const index_t x = 2 * (i % nx) - nx, y = 2 * (i / nx) - ny;
    return 9 * (x * x + y * y) < nx * nx;
  };
  std::vector<triplet> entries;
  for (index_t i = 0; i < nx * ny; ++i) {
    const index_t x = i % nx, y = i / nx;
    bool of_its_own = i % 17 == 5 || (i >= 2000 && i < 2040);
    for (const auto& [there, j] :
         {std::pair{x > 0, i - 1}, {x < nx - 1, i + 1}, {y > 0, i - nx}, {y < ny - 1, i + nx}}) {
      if (!there || inside(i)) continue;
      if (inside(j)) of_its_own = true;
      else entries.push_back({i, j, -1});
    }
    entries.push_back({i, i, inside(i) ? 1 : of_its_own ? 4 + double(i) / double(nx * ny) : 4});
  }
  for (index_t j = 0; j < nx * ny; j += 40)
    if (j % nx > 0) entries.push_back({nx * ny - 1, j, 0.5}); // twice where a neighbour is: they are added
  return assemble({nx * ny, nx * ny}, std::move(entries));
}

/// Values from 2^-20 to 2^20: sums in which most addends vanish.
double mixed_magnitude(splitmix& s) { return std::ldexp(s.value(), static_cast<int>(s.below(41)) - 20); }

} // namespace

std::vector<named_matrix> battery() {
  std::vector<named_matrix> all;
  const auto add = [&](std::string name, coo<double> a) { all.push_back({std::move(name), std::move(a)}); };
  add("0 x 0", assemble({0, 0}, {}));
  add("0 x 7", assemble({0, 7}, {}));
  add("7 x 0", assemble({7, 0}, {}));
  add("1 x 1", assemble({1, 1}, {{0, 0, 3}}));
  add("1 x 1 without entries", assemble({1, 1}, {}));
  add("no entries", assemble({70, 70}, {}));
  add("empty rows", random_rows(
                        {100, 100}, [](index_t r) { return r % 3 == 1 ? 5 : 0; }, 1));
  add("only the last row", random_rows(
                               {90, 90}, [](index_t r) { return r == 89 ? 4 : 0; }, 2));
  add("only the first row", random_rows(
                                {90, 90}, [](index_t r) { return r == 0 ? 4 : 0; }, 3));
  add("one full row", cross(300, 150, true));
  add("one full column", cross(300, 150, false));
  add("wide", random_rows(
                  {20, 700}, [](index_t r) { return 10 + r; }, 4));
  add("tall", random_rows(
                  {700, 20}, [](index_t r) { return r % 5; }, 5));
  add("1 x 300 dense", dense({1, 300}, 6));
  add("300 x 1 dense", dense({300, 1}, 7));
  add("unsorted with duplicates", unsorted_with_duplicates());
  add("explicit zeros", with_explicit_zeros());
  add("dense", dense({65, 65}, 8));
  add("diagonal", random_rows(
                      {1000, 1}, [](index_t) { return 1; }, 9));
  add("true diagonal", diagonal(std::vector<double>(1000, 1.25)));
  add("anti-diagonal", from_function(65, [](index_t i, index_t j) { return i + j == 64 ? double(i + 1) : 0.0; }));
  add("a row longer than a block", random_rows(
                                       {5, 5000}, [](index_t r) { return r == 2 ? 5000 : r; }, 10));
  add("lengths around 32", random_rows(
                               {203, 203}, [](index_t r) { return 30 + r % 5; }, 11));
  add("lengths around 64", random_rows(
                               {203, 203}, [](index_t r) { return 62 + r % 5; }, 12));
  add("lengths around 256", random_rows(
                                {40, 600}, [](index_t r) { return 254 + r % 5; }, 13));
  add("power law", random_rows(
                       {400, 400}, [](index_t r) { return 400 / (r + 1); }, 14));
  add("mixed magnitude", random_rows(
                             {200, 200}, [](index_t) { return 20; }, 15, mixed_magnitude));
  add("random", random_rows(
                    {500, 500}, [](index_t r) { return r * 7919 % 13; }, 16));
  add("laplacian", laplacian(12, 11, 3));
  add("wide band", banded({130, 190}, {-129, -40, -1, 0, 1, 60, 64, 128, 189}, 19));
  add("tall band", banded({190, 130}, {-189, -60, -2, -1, 3, 4, 100, 129}, 20));
  add("band above the diagonal", banded({600, 600}, {1, 2, 3, 4, 5}, 21));
  std::vector<index_t> many;
  for (index_t d = -60; d <= 60; ++d) many.push_back(d);
  add("many diagonals", banded({260, 250}, many, 22));
  return all;
}

std::vector<named_matrix> large_battery() {
  std::vector<named_matrix> all;
  all.push_back({"large laplacian", laplacian(200, 250)});
  all.push_back({"large grid around a circle", grid_around_a_circle(170, 150)});
  // More rows than 16 bits count and than a wave of blocks holds, most of them of one length, a few longer.
  all.push_back(
      {"more than 64 Ki rows", random_rows(
                                   {70001, 90}, [](index_t r) { return r % 10007 == 0 ? 80 : 3 + r % 2; }, 24)});
  // Short rows around rows longer than what a piece or a block holds, and a long gap without entries.
  all.push_back({"large and uneven", random_rows(
                                         {30000, 40000},
                                         [](index_t r) -> index_t {
                                           if (r == 9999 || r == 29000) return 40000;
                                           if (r > 12000 && r < 20000) return 0;
                                           return r % 9;
                                         },
                                         18)});
  return all;
}

std::vector<named_matrix> whole_battery() {
  auto all = battery();
  for (auto& m : large_battery()) all.push_back(std::move(m));
  return all;
}

} // namespace furrow::kit
