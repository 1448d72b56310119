// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ordering.hpp"

#include "core/host_room.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace furrow::lu {

/// The memory that SuperLU takes for one factorisation. SuperLU has no handle for its memory, and ends the process
/// where something fails; but it calls its three hooks, superlu_malloc, superlu_free and superlu_abort_and_exit,
/// through the tables of the dynamic linker, which let a program define them itself (the library's manual says so of
/// the compile-time names). Here they count against a budget, free all that is left where the arena ends, and throw.
/// More names are taken for a question: whether a factorisation (`resetrep_col`) or an order by minimum degree
/// (`slu_mmdelm_`, `slu_mmdupd_`) is to go on (`stops_set_up`, `count`).
class arena {
public:
  explicit arena(host_room budget) : budget_(budget) {}
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena();
  double bytes() const { return bytes_; } ///< taken now

  /// What this thread's calls of SuperLU take belongs to the arena. Without one they take and abort as they always do.
  class scope {
  public:
    explicit scope(arena& a);
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();

  private:
    arena* before_;
  };

  struct block {
    block *before, *after;
    arena* owner;
    std::size_t size;
  };
  void* take(std::size_t size); ///< null beyond the budget
  void give_back(block* b);

  /// From now on the factorisation under way counts its operations in two numbers of its own, which are floats and are
  /// emptied here once a column; it ends where their sum is more than `most`.
  void count(float* solves, float* products, double most) {
    counted_[0] = solves, counted_[1] = products, most_operations_ = most, operations_ = 0;
  }
  double operations() const { return operations_; } ///< so far
  void at_column();                                 ///< throws a `refusal` beyond that

  /// The graph of SuperLU's minimum degree behind a round, numbered from 1. `round`: the first of the nodes that the
  /// round has eliminated, which `next` leads through.
  struct quotient_graph {
    int round;
    const int *begins, *neighbours, *next, *forward, *backward, *size;
  };

  /// From now on an order of n columns by minimum degree adds up what its nodes make of the factor, a column at least
  /// of as many entries as its degree tells, and its steps where it finds degrees; it ends beyond `most`.
  void bound_order(const order_bounds& most, index_t n);
  void at_node() { ++nodes_; }
  void at_round(int degree); ///< that the nodes since the last one had; throws `order_fills_in` beyond that
  void at_update(const quotient_graph& g); ///< of degrees; the same

private:
  block* first_ = nullptr;
  host_room budget_;
  double bytes_ = 0;
  float* counted_[2] = {};
  double operations_ = 0, most_operations_ = 0;
  order_bounds most_{};
  double squares_ = 0, steps_ = 0, nodes_ = 0;
  struct mark_of_node {
    int length = 0;          ///< of the list of one that is eliminated
    int list = 0, round = 0; ///< the last one that it was in, and that its degree was found in
  };
  std::vector<mark_of_node> marks_;
  int rounds_ = 0, lists_ = 0;
};

/// What SuperLU says where it would end the process.
struct superlu_aborted {
  std::string why;
};

} // namespace furrow::lu
