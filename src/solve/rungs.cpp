// SPDX-License-Identifier: BSD-3-Clause
#include "rungs.hpp"

#include "core/counted.hpp"
#include "core/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow {
namespace {

/// Of so many rows it takes less time than a second iteration: 30 to 90 ms on the real systems of 3,000 to 6,000 rows
/// that the first one leaves.
constexpr index_t some_rows = 6000;
/// Of so many rows it comes first where incomplete factors need a matching and entries are few, so that fill is, too:
/// 25 ms on gemat11, gemat12, lns_3937 and lnsp3937, where iterations take 50 to 200 or get nowhere.
constexpr index_t rows_to_match = 5000, few_entries_a_row = 16;
/// Of so many rows and operations for each entry complete factors of a symmetric matrix come before multigrid, and take
/// 0.2 to 0.5 us an entry with all that belongs to them: no more than a set-up of multigrid and 50 cycles, which the
/// matrices that keep a diagonal from converging rarely end with. Where they would take more they are refused for the
/// price of an ordering, 0.05 to 0.1 us an entry, and up to 3 where that is left itself. Real systems: 170 to 2,700
/// where they are worth it (bcsstk15 to fem_dolphin_elas_nu49), 9,000 and more of solids and 4,600 of G2_circuit, which
/// multigrid solves in fewer cycles.
constexpr index_t rows_to_order = 50000;
constexpr double few_operations = 3500;
/// The same where incomplete factors have failed already, or multigrid has: before 375 steps and more of gmres, which
/// take as long as 5,000 to 20,000 operations for each entry, and before as many of incomplete Cholesky factors.
constexpr double fewer_than_iterations = 6000;
/// Of so few entries a row complete factors come before incomplete ones, too, where the matrix is not symmetric or not
/// definite, as of power grids and circuits: the load flow of 38,000 unknowns takes 0.16 s in place of 1.26. Of more
/// entries a refusal, for which operations are counted as they are made, takes up to half of what follows (c-62, 13 a
/// row: 0.9 s before 2.1).
constexpr index_t entries_of_networks = 8;
/// An order by minimum degree of what lies in the plane takes 3 to 5 steps for each neighbour, and up to 65 of real
/// networks and bodies whose factors take few operations; of 100,000 rows of 4 entries at random it takes 0.15 s to see
/// by the first bound that they fill in, and 1.9 by 500.
constexpr double steps_of_planes = 30, steps_of_bodies = 100;
/// Factors by products of panels take a fifth of the time or less for each operation, 8 to 38e9 a second beside 1 to
/// 3.4e9: of a nearly incompressible solid of 86,490 rows, 24,000 for each entry, 9 s in place of 43 behind incomplete
/// factors.
constexpr double by_panels = 5;
/// Factors that end for sure at so many times the operations that they are worth, which they rarely reach, are made to
/// their end: half of the time they would be begun once more behind gmres.
constexpr double near = 2.5;
/// Iterations after which a better preconditioner has paid for its set-up: multigrid and Jacobi tie at some 450.
constexpr index_t cheap = 450;
/// The same on a grid, on the CPU and on a GPU: on an H100 set-up and cycles take as long as 140 to 190 iterations on
/// grids of 32^3 to 100^3 and 1000^2 points, and as 63 on 200^3.
constexpr index_t cheap_on_grids = 150;
/// Of so many entries factors with more fill come before those without: they take a fifth of the iterations or less,
/// and their set-up no longer than a few dozen. memplus (126,150 entries) by bicgstab: 0.021 s in place of 0.134,
/// teko_szdMat 0.17 in place of 0.68; fem_armadillo_r1_advdiff (1.2 M), of 24 iterations, would take 1.05 s in place of
/// 0.63.
constexpr index_t entries_to_fill = 800000;
/// Of so many rows that are not symmetric multigrid comes before incomplete factors: of 20,000 both take the same, and
/// the steps of multigrid hardly grow with the rows. A wind around in a square of 900^2 points takes 1.9 s on two cores
/// with it, where complete factors had to end the solve, after 8.0.
constexpr index_t rows_for_levels = 15000;
/// Diagonals of a grid in the plane, whose lines are long: a diagonal is left as early as before multigrid of symmetric
/// grids. In space a residual stays until the wind has crossed the lines, too, and falls then: a cube of 60^3 points
/// takes 140 steps, 0.08 s, and by multigrid 0.22.
constexpr index_t diagonals_of_a_plane = 5;
/// The same whose rows reach the next lines and no further, and those of plates.
constexpr index_t diagonals_of_next_lines = 9, diagonals_of_a_plate = 13;
/// Its own steps, of two cycles each.
constexpr index_t few_cycles = 150;
/// Steps with a diagonal that complete factors of few rows may wait for, and incomplete ones of more: a quarter of them
/// shows the rate, which takes a tenth of the time of complete factors on the real systems and half that of incomplete
/// ones. dwb512, fs_760_1, jpwh_991 and steam2 are solved in 2 to 28 steps, fem_armadillo_r1_advdiff in 89.
constexpr index_t short_trial = 80, trial = 200;
/// The same for a preconditioner that is dear already.
constexpr index_t patient = 1500;
/// Times as many before a GPU hands over to a rung of the host: a GPU's memory is some 20 times as fast. Not of exact
/// triangular solves: with incomplete factors of plane grids of 10,000 to 90,000 points a step takes 0.5 to 37 ms on an
/// H200, and 0.4 to 6 on two cores.
constexpr index_t gpu_patience = 20;
/// The same before multigrid that is set up on a GPU, of other rows: it takes more cycles, and of blocks a set-up on
/// the host.
constexpr index_t cheap_on_a_gpu = 900;
/// Times as many of steps on the chip, which take a fifth of the time.
constexpr index_t chip_patience = 5;
/// Of so many rows of a grid on a GPU shadow vectors come before incomplete factors, whose triangular solves wait for
/// one level after the other, and behind multigrid, which takes 0.06 s with its set-up of the first one and 0.2 of the
/// second: idr:8 takes 0.17 s of 1,000 x 1,000 points with convection, in 136 steps of nine
/// products, where bicgstab with ilu takes 0.6 and 0.3 to set up, and 1.2 s of 2,000 x 2,000 (9 and 1; H200). Its
/// residual stays until all of the grid has been met, a line of points a product, and then falls: it is left by number.
constexpr index_t rows_for_shadows = 50000, steps_of_shadows = 450;
/// A residual that stays says nothing of the rate of least squares: they are left by number where another rung follows.
constexpr index_t long_run = 100000;
/// Steps for each row that minres of a singular matrix may expect. A quarter of them shows a b out of the range, beside
/// which nothing moves; where b is in the range a graph of 2,680 nodes takes 17,500 steps, six for each of them.
constexpr index_t steps_a_row = 20;
/// Steps of least squares that complete factors of a tall matrix wait for: those of real ones end after 2,060 or
/// less, and begin anew where factors are refused.
constexpr index_t steps_before_factors = 5000;

/// Operations for each entry that factors of a narrow band take at most, with all that pivots may add: a chain of
/// 200,000 rows is factored in 0.05 s, and what is smooth along it comes to no other method soon. A beam of 20,000
/// points takes 0.02 s in place of 0.9 behind multigrid, convection along a line of as many 0.02 in place of 0.14.
constexpr double operations_of_chains = 500;

/// Whether all rungs are, and have all of the matrix.
bool is_on_host(const inventory& there) { return !there.on_gpu && !there.on_ranks; }

/// Whether all entries are in a narrow band, as those of a line of points.
bool is_chain(const features& f) {
  const double below = double(f.below), above = double(f.below + f.above);
  return f.below + f.above > 0 && 2 * below * above * double(f.rows) <= operations_of_chains * double(f.nnz);
}

/// Whether all diagonal blocks are so small that complete factors take few operations, for sure.
bool falls_apart(const features& f) { return f.blocks > 1 && f.in_blocks <= few_operations * double(f.nnz); }

class ladder_list {
public:
  explicit ladder_list(const inventory& there) : there_(there) {}
  /// Leaves out what this build does not have.
  void add(std::string solver, std::string precond, index_t outlook, std::string reason, index_t most = 0,
           const most_operations& operations = {}) {
    if (there_.has_solver(solver) && there_.has_preconditioner(precond))
      list_.push_back({std::move(solver), std::move(precond), std::move(reason), outlook, most, operations});
  }
  /// The last one, where there is one.
  void put_on_trial() {
    if (!list_.empty()) list_.back().on_trial = true;
  }
  /// The last one, of complete factors.
  void augment() { list_.back().augmented = true; }
  std::vector<rung_plan> take() {
    for (std::size_t k = 0; there_.on_gpu && k + 1 < list_.size(); ++k) {
      const bool faster = runs_on_gpu(list_[k]) && !there_.by_levels(list_[k].precond);
      if (faster && !runs_on_gpu(list_[k + 1])) list_[k].outlook *= gpu_patience;
    }
    if (!list_.empty()) list_.back().outlook = 0; // nothing follows that would be better
    return std::move(list_);
  }

private:
  bool runs_on_gpu(const rung_plan& plan) const { return there_.runs_on_gpu(plan.precond); }

  const inventory& there_;
  std::vector<rung_plan> list_;
};

void add_direct(ladder_list& list, const features& f, std::string_view after) {
  if (falls_apart(f))
    return list.add("direct", "lu", 0,
                    fmt::format("{} diagonal blocks, the largest of {}: complete factors take few operations",
                                count_text(f.blocks), counted_text(f.largest_block, "row")));
  list.add("direct", "lu", 0,
           f.rows <= few_rows
               ? fmt::format("{} rows are few: a complete factorisation is as quick as iterations", f.rows)
               : fmt::format("a complete factorisation, {}", after));
}

/// Complete factors on the host, if they take little beside the iterations that would come next.
void add_direct_if_cheap(ladder_list& list, const features& f, const inventory& there,
                         double order_steps = most_operations::any) {
  const double worth = fewer_than_iterations * double(f.nnz);
  most_operations operations(worth, by_panels * worth, near * worth);
  operations.order_steps = order_steps;
  if (!there.on_ranks)
    list.add("direct", "lu", 0, "complete factors, where they take fewer operations than more iterations", 0,
             operations);
}

/// Whether an ordering takes little beside what would come next.
bool may_order_first(const features& f, const inventory& there) {
  return is_on_host(there) && (is_chain(f) || (f.rows <= rows_to_order && !f.may_be_grid()));
}

void add_direct_of_few_operations(ladder_list& list, const features& f, double order_steps = most_operations::any) {
  most_operations operations(few_operations * double(f.nnz));
  operations.order_steps = order_steps;
  list.add("direct", "lu", 0, "complete factors, where they take few operations", 0, operations);
}

void add_least_squares(ladder_list& list, index_t most = 0) {
  list.add("lsmr", "jacobi", 0, "the least-squares answer needs no inverse", most);
}

std::vector<rung_plan> rectangular(const features& f, const inventory& there) {
  ladder_list list(there);
  if (f.more_columns > 0) list.add("lsmr", "none", patient, "fewer equations than unknowns: the shortest x");
  const bool tall =
      f.more_columns < 0 && !there.on_ranks && there.has_solver("direct") && there.has_preconditioner("lu");
  if (tall) {
    add_least_squares(list, steps_before_factors);
    const double worth = fewer_than_iterations * double(f.rows + 2 * f.nnz);
    list.add("direct", "lu", 0, "least squares by complete factors, where they take fewer operations than more steps",
             0, {worth, by_panels * worth, near * worth});
    list.augment();
  }
  add_least_squares(list);
  return list.take();
}

/// Whether complete factors come before all else.
bool factors_first(const features& f) {
  if (f.rows <= few_rows || falls_apart(f)) return true;
  return !f.symmetric && f.wants_matching() && f.rows <= rows_to_match && f.nnz <= few_entries_a_row * f.rows;
}

/// Whether multigrid is promising: nearly all rows are dominant, as those of convection by upwind differences, of
/// reactions and of chains.
bool suits_multigrid(const features& f, const inventory& there) {
  return !f.symmetric && !f.wants_matching() && !there.on_ranks && f.rows >= rows_for_levels && f.positive_diagonal() &&
         10 * f.dominant >= 9 * f.rows;
}

/// Whether complete factors come before incomplete ones, which hardly ever end what a diagonal and multigrid have not,
/// while those of waves, flow and wind in the plane take few operations: Helmholtz's equation on 200^2 and 300^2
/// points, 21 and 10 a wave, takes 0.3 and 0.6 s, behind incomplete factors 1.2 and 2.1, Stokes flow of 48,896 unknowns
/// 0.4 in place of 1.6, a wind by central differences on 200^2 points 0.1 in place of 1. Where they fill in they are
/// refused for the price of an ordering. Of a grid of some rows incomplete factors fail as soon.
bool suits_factors_of_the_plane(const features& f, const inventory& there) {
  const bool few_entries = f.may_be_grid() ? f.rows > some_rows : f.nnz <= entries_of_networks * f.rows;
  return (is_chain(f) || few_entries) && is_on_host(there) && !factors_first(f);
}

/// Whether triangular solves would keep a GPU waiting.
bool suits_shadows(const features& f, const inventory& there) {
  return there.on_gpu && !there.on_ranks && !f.symmetric && f.may_be_grid() && !f.wants_matching() &&
         f.rows >= rows_for_shadows;
}

/// What is left for a matrix of which nothing good is known.
void add_general(ladder_list& list, const features& f, const inventory& there) {
  const bool filled = is_on_host(there) && f.nnz <= entries_to_fill;
  const char* const why =
      f.wants_matching() ? "incomplete factors of the rows, matched and scaled" : "incomplete factors of the rows";
  const bool had = factors_first(f), soon = !had && f.rows <= some_rows, later = !had && !soon;
  const bool sooner = suits_factors_of_the_plane(f, there);
  if (suits_multigrid(f, there)) {
    if (may_order_first(f, there) && (is_chain(f) || f.nnz <= entries_of_networks * f.rows))
      add_direct_of_few_operations(list, f);
    list.add("bicgstab", "amg", few_cycles, "dominant rows: multigrid takes few iterations whatever the size");
  }
  if (sooner) add_direct_if_cheap(list, f, there, steps_of_planes);
  if (suits_shadows(f, there))
    list.add("idr:8", "jacobi", 0, "a grid: triangular solves would keep a GPU waiting, and more shadow vectors do not",
             steps_of_shadows);
  list.add("bicgstab", filled ? "ilut" : "ilu", cheap, why);
  if (soon) add_direct(list, f, "since iterations are slow");
  else if (later && !sooner) add_direct_if_cheap(list, f, there);
  list.add("gmres:50", "ilut", patient, "more fill, and a residual that cannot grow");
  if (later) add_direct(list, f, "since no iteration got there");
}

std::vector<rung_plan> indefinite(const features& f, const inventory& there, const char* why) {
  ladder_list list(there);
  if (f.rows <= few_rows) add_direct(list, f, "");
  list.add("minres", "jacobi", cheap, why);
  add_general(list, f, there);
  list.add("minres", "none", 0, "the residual of a symmetric matrix cannot grow");
  add_least_squares(list);
  list.add("bicgstab", "none", 0, "what works without a diagonal");
  return list.take();
}

/// What a diagonal may expect where multigrid comes next.
index_t cheap_before_multigrid(const features& f, const inventory& there) {
  if (f.may_be_grid()) return cheap_on_grids;
  return there.on_gpu && there.runs_on_gpu("amg") ? cheap_on_a_gpu : cheap;
}

/// Whether a grid is that of a plate, which multigrid takes many cycles for: its rows, few of which are dominant, reach
/// beyond the next lines. With 200^2 points complete factors take 0.15 s, behind multigrid, which is left, 0.43.
bool may_be_plate(const features& f, const inventory& there) {
  return f.may_be_grid() && f.diagonals > diagonals_of_next_lines && f.diagonals <= diagonals_of_a_plate &&
         2 * f.dominant < f.rows && is_on_host(there);
}

std::vector<rung_plan> definite(const features& f, const inventory& there) {
  ladder_list list(there);
  const char* const why = "symmetric with a positive diagonal: it may be positive definite";
  if (there.cg_fits_on_chip)
    list.add("cg_resident", "jacobi", chip_patience * cheap_before_multigrid(f, there),
             std::string(why) + ", and small enough for the chip");
  else list.add("cg", "jacobi", cheap_before_multigrid(f, there), why);
  if (f.rows <= few_rows) add_direct(list, f, "");
  else if (may_order_first(f, there)) add_direct_of_few_operations(list, f, steps_of_bodies);
  else if (may_be_plate(f, there)) add_direct_of_few_operations(list, f, steps_of_planes);
  list.add("cg", "amg", cheap, "multigrid takes few iterations whatever the size");
  if (f.rows > few_rows) add_direct_if_cheap(list, f, there);
  list.add("cg", "ic0", patient, "incomplete Cholesky factors");
  if (f.rows > few_rows) add_direct(list, f, "since no iteration got there");
  list.add("cg", "jacobi", 0, "to its own limit");
  return list.take();
}

/// Few steps with a diagonal, before factors that its rows want for.
void add_trial(ladder_list& list, const features& f, const inventory& there, index_t steps) {
  if (f.diagonal_in_all_rows() && !there.on_ranks)
    list.add("bicgstab", "jacobi", steps, "a diagonal in all rows, which are of like sizes: a few steps may do");
}

/// Steps that a diagonal may expect: on ranks what comes next is one rank's alone.
index_t cheap_with_a_diagonal(const features& f, const inventory& there) {
  const bool plane = f.may_be_grid() && f.diagonals <= diagonals_of_a_plane;
  return plane && is_on_host(there) ? cheap_on_grids : cheap;
}

std::vector<rung_plan> nonsymmetric(const features& f, const inventory& there) {
  ladder_list list(there);
  const bool host_first = factors_first(f);
  if (host_first) {
    if (!there.on_gpu) {
      add_trial(list, f, there, short_trial);
      list.put_on_trial();
    }
    add_direct(list, f, "for incomplete factors of rows that want matching promise little");
  }
  const char* const why = "not symmetric, with a diagonal that says something";
  if (!f.wants_matching() && there.bicgstab_fits_on_chip)
    list.add("bicgstab_resident", "jacobi", chip_patience * cheap,
             std::string(why) + ", and small enough for the chip");
  else if (!f.wants_matching()) list.add("bicgstab", "jacobi", cheap_with_a_diagonal(f, there), why);
  else if (!host_first) add_trial(list, f, there, trial);
  add_general(list, f, there);
  list.add("bicgstab", f.zero_diagonal > 0 ? "none" : "jacobi", 0, "to its own limit");
  add_least_squares(list);
  return list.take();
}

} // namespace

std::vector<rung_plan> rungs_for(const features& f, const inventory& there) {
  if (!f.square()) return rectangular(f, there);
  if (!f.symmetric) return nonsymmetric(f, there);
  if (f.positive_diagonal()) return definite(f, there);
  return indefinite(f, there, "symmetric with a diagonal that is not positive: it is not positive definite");
}

std::vector<rung_plan> rungs_for_indefinite(const features& f, const inventory& there) {
  return indefinite(f, there, "symmetric, and shown not to be positive definite");
}

std::vector<rung_plan> rungs_for_singular(const features& f, const inventory& there, bool indefinite) {
  ladder_list list(there);
  const char* const in_range = "found to be singular: b may be in the range all the same";
  const bool definite = f.symmetric && f.positive_diagonal() && !indefinite;
  if (f.rows <= few_rows) add_direct(list, f, "");
  if (definite && !there.on_ranks) list.add("cg", "jacobi", cheap, in_range);
  if (f.rows > few_rows) add_direct_if_cheap(list, f, there);
  if (!there.on_ranks) { // least squares take the square of the steps
    if (definite) list.add("cg", "amg", cheap, in_range);
    else if (!indefinite || !f.positive_diagonal()) // equations of a saddle point depend on each other: either may fail
      for (const char* const factors : {"ilut", "ilu"}) list.add("gmres:50", factors, cheap, in_range);
  }
  const char* const why = "found to be singular: the least-squares answer";
  const bool ends_by_itself = 10 * f.rows <= long_run;
  if (f.symmetric && !there.on_ranks)
    list.add("minres", "jacobi", std::min(steps_a_row * f.rows, 2 * long_run), in_range);
  list.add("lsmr", "jacobi", 0, why, ends_by_itself ? 0 : long_run);
  if (f.rows > few_rows) add_direct(list, f, "in case that it is not singular");
  if (!ends_by_itself) list.add("lsmr", "jacobi", 0, why);
  return list.take();
}

std::vector<rung_plan> rungs_with(std::string_view precond, const features& f, const inventory& there) {
  ladder_list list(there);
  const std::string m(precond);
  if (!f.square()) {
    list.add("lsmr", m, 0, "rectangular");
    return list.take();
  }
  if (there.varies(m)) {
    if (f.symmetric && f.positive_diagonal())
      list.add("fcg", m, 0, "symmetric with a positive diagonal, and a preconditioner that varies from step to step");
    list.add("fgmres:50", m, 0, "matrices of any kind, and a preconditioner that varies from step to step");
    return list.take();
  }
  const bool for_cg = f.symmetric && f.positive_diagonal() && there.suits(m, "cg");
  const bool by_diagonal = m == "jacobi" || m == "none";
  const std::string_view named = take_apart(m).name;
  const bool by_cg_on_chip = by_diagonal || named == "chebyshev" || named == "block_jacobi";
  const bool for_minres = f.symmetric && there.suits(m, "minres");
  if (for_cg)
    list.add(there.cg_fits_on_chip && by_cg_on_chip ? "cg_resident" : "cg", m, 0,
             "symmetric with a positive diagonal: it may be positive definite");
  if (for_minres) list.add("minres", m, 0, "symmetric");
  list.add(there.bicgstab_fits_on_chip && by_diagonal ? "bicgstab_resident" : "bicgstab", m,
           for_cg || for_minres ? 0 : patient, "matrices of any kind");
  list.add("gmres:50", m, 0, "matrices of any kind, and a residual that cannot grow");
  return list.take();
}

} // namespace furrow
