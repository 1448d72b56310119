// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/report.hpp>

#include <string>
#include <string_view>

namespace furrow::report {

/// "Converged", "Stopped short", "Not positive definite": the verdict in few words.
std::string_view verdict(status s);
/// What to do next, a sentence; empty where x is an answer.
std::string_view advice(status s);

/// With a capital letter and a full stop.
std::string sentence(std::string text);
/// "9.62e-09"; "not known" for what is no finite number.
std::string figure(double value);
/// "cg with jacobi"
std::string method(std::string_view solver, std::string_view precond);

/// Whether x is what was asked for: the solution, or the nearest there is.
bool is_answer(const solve_report& r);
/// Whether the residual was computed: not where a NaN or the preconditioner ended the solve before it started.
bool has_residual(const solve_report& r);
/// Who made the estimates of an answer where nothing else was held against them: "the steps of cg alone; the solver
/// auto looks further". Empty where there are none, where a warning speaks of them, of answers of `auto` and of
/// complete factors, and of fewer rows than columns, of which `auto` tells no more.
std::string estimated_by(const solve_report& r, shape2 shape);
/// Of the passes of the method that gave the answer; 0 where nothing is known.
double bytes_a_second(const solve_report& r);

} // namespace furrow::report
