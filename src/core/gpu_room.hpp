// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace furrow {

/// Whether so many bytes are free on that GPU. The driver takes a millisecond to say how many there are: what it said
/// counts for a second, less what this library has taken from it since, where that is four times as much as is asked
/// for. A build without a GPU part says no.
bool gpu_takes(int ordinal, double bytes);

/// What that GPU calls itself; empty where there is none. Some 2 us: `inspect_gpus`, which asks for free memory too,
/// takes 60 and more.
std::string gpu_name(int ordinal);

} // namespace furrow
