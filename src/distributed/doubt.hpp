// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solve/second_look.hpp"
#include "solve/second_start.hpp"

#include <furrow/communicator.hpp>
#include <furrow/coo.hpp>

#include <functional>
#include <optional>
#include <string>

namespace furrow {

/// What the ladder of ranks does about an answer whose error its method cannot tell, as the ladder of one rank does:
/// another first guess, and complete factors where they take little, for which the first rank gathers the rows. Once.
template <class V> class doubt_on_ranks {
public:
  /// Solves A y = b from the y that is given, to that relative residual, in at most so many iterations.
  using solve_for = std::function<solve_report(cview<V> b, view<V> y, double rtol, index_t most)>;

  struct means {
    const any_operator<V>& a; ///< of this rank
    double norm_inf;          ///< of all rows
    const features& known;
    index_t first_row;                    ///< of this rank
    const solve_for& anew;                ///< by the method that gave the answer
    const std::function<coo<V>()>& rows;  ///< of this rank, with the columns of the whole matrix
    const std::function<bool()>& no_time; ///< asked on the first rank alone
    const solve_options& options;
  };
  /// Puts what is found into the report of an answer. `work`: of all ranks. All ranks call it.
  void look(communicator& c, solve_report& report, cview<V> b, cview<V> x, const work_done& work,
            std::string& singular_by, const means& with);

private:
  std::optional<factor_facts> look_at_factors(communicator& c, double residual, cview<V> b, cview<V> x,
                                              double operations, const means& with);
  std::optional<factor_facts> ask_factors(communicator& c, double residual, cview<V> b, cview<V> x, const means& with,
                                          coo<V> a, double operations);
  struct found {
    std::optional<double> apart;
    std::optional<factor_facts> facts;
  };
  found find_error(communicator& c, const solve_report& report, cview<V> b, cview<V> x, work_done w, const means& with);
  std::optional<double> ask_at_random(const solve_report& report, index_t size, work_done& w, const means& with);
  std::optional<double> ask_starts(communicator& c, const solve_report& report, cview<V> b, cview<V> x, work_done& w,
                                   const means& with, bool of_itself = false);

  std::optional<bool> ones_to_zero_; ///< whether the rows of all add up to zero
  looks_taken looked_;
  bool has_factors_ = false;                 ///< on the first rank
  std::optional<factor_look<V>> by_factors_; ///< there
  shown_at_random shown_;
  second_starts told_;
};

} // namespace furrow
