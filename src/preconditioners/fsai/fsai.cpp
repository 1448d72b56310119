// SPDX-License-Identifier: BSD-3-Clause
#include "rows_of_inverse.hpp"

#include "core/counted.hpp"
#include "core/parameters.hpp"
#include "matrix/permute.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/stored_product.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace furrow::fsai_preconditioner {
namespace {

places_wanted places_from(std::string_view text) {
  const entry_parameters given("fsai[:LEVEL|adaptive[:STEPS[:WIDTH]]]", text);
  if (!given.has(0) || given.word(0) != "adaptive") {
    if (given.has(1)) given.refuse("LEVEL has none behind it");
    return {given.whole(0, 1, 1, 4), 0, 0};
  }
  const places_wanted places{1, given.whole(1, 5, 1, most_places - 1), given.whole(2, 3, 1, most_places - 1)};
  if (places.steps * places.width >= most_places)
    given.refuse(fmt::format("STEPS x WIDTH places a row are {}, {} are the most", places.steps * places.width,
                             most_places - 1));
  return places;
}

std::string name_of(const places_wanted& places) {
  return places.steps > 0 ? fmt::format("fsai:adaptive:{}:{}", places.steps, places.width)
                          : fmt::format("fsai:{}", places.level);
}

/// M = (G S)' G S, S = |diag A|^-1/2: symmetric and positive definite whatever A is. Each factor is in the format that
/// `auto` takes on the device.
template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  const places_wanted places = places_from(text);
  const index_t n = a.shape.rows;
  const rows_of_triplets<V> rows(a);
  const auto scale = symmetric_scaling(rows.view(), needed.a.definite, "fsai");
  inverse_factor f = rows_of_inverse(arranged(rows.view(), {{}, {}, scale, scale}).view(), places);
  row_matrix<V> g{a.shape, std::move(f.g.row_ptr), std::move(f.g.col), host_array<V>(f.g.nnz())};
  for (index_t k = 0; k < g.nnz(); ++k) g.val[k] = static_cast<V>(f.g.val[k] * scale[g.col[k]]);
  std::string about =
      fmt::format("{}: {:.1f} entries a row", name_of(places), double(g.nnz()) / double(std::max<index_t>(n, 1)));
  if (f.diagonal_rows > 0)
    about +=
        fmt::format("; {} of {} {} not positive definite at the places of the row and {} the diagonal", f.diagonal_rows,
                    counted(n, "row"), f.diagonal_rows == 1 ? "is" : "are", f.diagonal_rows == 1 ? "keeps" : "keep");
  auto transpose = to_triplets(transposed(g.view()));
  return make_stored_product<V>(to_triplets(std::move(g)), std::move(transpose), where, std::move(about));
}

/// Each level beyond the first is taken to triple the entries, as on grids.
preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const places_wanted places = places_from(text);
  const double n = double(s.shape.rows);
  double entries = (double(s.nnz) + n) / 2;
  for (index_t k = 1; k < places.level; ++k) entries *= 3;
  if (places.steps > 0) entries = n * double(1 + places.steps * places.width);
  entries = std::min(entries, n * double(most_places));
  const double kept = 2 * (entries * (4 + bytes_of(p)) + 8 * n) + n * bytes_of(p);
  return {kept, 2 * kept + 12 * double(s.nnz) + 36 * entries + 40 * n, false};
}

} // namespace

extern const preconditioner_entry entry{
    "fsai",
    "factorised sparse inverse of a symmetric A; cannot break down where A is definite",
    {true, true},
    lay_out,
    make<double>,
    make<float>,
    "[:LEVEL|adaptive[:STEPS[:WIDTH]]]"};

} // namespace furrow::fsai_preconditioner
