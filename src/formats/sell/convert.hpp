// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "sell.hpp"
#include "slicing.hpp"

#include <furrow/coo.hpp>

namespace furrow {

/// From triplets; holds the values twice at its peak. Parallel.
template <class V> sell<V, host_array> to_sell(coo<V> a, slicing how);
/// The same of columns and values that stay where they are.
template <class V> sell<V, host_array> to_sell(borrowed_rows<V> a, slicing how);
template <class V> sell<V, host_array> to_sell(measured_coo<V> a, slicing how);
/// The same with the height and window of `parameters`, or those that suit the rows best.
template <class V> sell<V, host_array> to_sell(coo<V> a, std::string_view parameters);
template <class V> sell<V, host_array> to_sell(borrowed_rows<V> a, std::string_view parameters);
template <class V> sell<V, host_array> to_sell(measured_coo<V> a, std::string_view parameters);
template <class V> coo<V> to_coo(const sell<V, host_array>& a);

/// Entries of the row at each position, padding not counted.
template <class V> host_array<std::int32_t> lengths_at_positions(const sell<V, host_array>& a);

namespace sell_format {
inline constexpr std::string_view usage = "sell[:HEIGHT[:WINDOW]]";
/// Height and window as asked for; a window of 0 is to be chosen. Throws `fault::usage`.
slicing read_parameters(std::string_view parameters);
} // namespace sell_format

} // namespace furrow
