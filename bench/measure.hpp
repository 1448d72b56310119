// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/clock.hpp"

#include <furrow/view.hpp>

#include <functional>
#include <string>
#include <vector>

/// Timing that survives a shared machine: rivals take turns, and a turn in which the system took a processor away does
/// not count.
namespace furrow::bench {

/// The middle one, of an even number the upper of the two.
double median(std::vector<double> v);

/// Turns that each contender is to have undisturbed, and how many turns there are at most.
struct patience {
  int clean = 5, most = 25;
};

/// The best seconds of each contender's turns.
///
/// Before a turn the threads of the others are given time to fall asleep. A turn warms up, then takes the
/// fastest single call within about `seconds`: a call is short enough to fit between two interruptions.
std::vector<double> compare(const std::vector<std::function<void()>>& calls, patience p, double seconds);

/// The same for contenders that warm up and time themselves.
std::vector<double> compare_timed(const std::vector<std::function<double()>>& calls, patience p);

/// Bytes a second at which all threads read `bytes` of memory again and again, each always its own share: the ceiling
/// for a product whose matrix and vectors are of that size.
double read_ceiling(double bytes);

std::string cpu_model();

} // namespace furrow::bench
