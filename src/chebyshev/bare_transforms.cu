// SPDX-License-Identifier: BSD-3-Clause
#include "bare_transforms.hpp"

#include "gpu_fft.hpp"

#include <algorithm>
#include <memory>

namespace furrow::chebyshev {
namespace {

struct pair_of_transforms {
  explicit pair_of_transforms(index_t points)
      : data(points + 1), forth(gpu_transform::kind::complex, points, 1),
        back(gpu_transform::kind::half_back, points, 1),
        work(index_t(std::max({forth.work_bytes(), back.work_bytes(), std::size_t(64)}))) {
    gpu::fill_bytes(data, 0);
    forth.use(work.data());
    back.use(work.data());
  }
  gpu_array<double2> data;
  gpu_transform forth, back;
  gpu_array<char> work;
};

} // namespace

std::function<void()> bare_transforms(index_t points) {
  const auto both = std::make_shared<pair_of_transforms>(points);
  return [both] {
    both->forth.run(both->data.data());
    both->back.run(both->data.data());
  };
}

} // namespace furrow::chebyshev
