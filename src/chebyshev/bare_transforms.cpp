// SPDX-License-Identifier: BSD-3-Clause
#include "bare_transforms.hpp"

#include "fourier.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <memory>

namespace furrow::chebyshev {
namespace {

struct pair_of_transforms {
  explicit pair_of_transforms(index_t points)
      : forth(points), back(points / 2), numbers(2 * points, 0.0), room(std::max(forth.room(), back.room())) {}
  fourier_transform forth, back;
  host_array<double> numbers, room;
};

} // namespace

std::function<void()> bare_transforms_on_cpu(index_t points) {
  const auto both = std::make_shared<pair_of_transforms>(points);
  return [both] {
    both->forth.plus(both->numbers.data(), both->room.data());
    both->back.minus(both->numbers.data(), both->room.data());
  };
}

} // namespace furrow::chebyshev
