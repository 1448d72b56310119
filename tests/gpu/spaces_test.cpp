// SPDX-License-Identifier: BSD-3-Clause
// The public spaces and their matrices, on the GPU.
#include "on_gpu.hpp"

#include "kit/spaces_check.hpp"

#include <furrow/generate.hpp>

namespace furrow {
namespace {

template <class V> struct gpu_spaces : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_spaces, precisions);

TYPED_TEST(gpu_spaces, do_what_their_names_say) { kit::check_space<gpu_space<TypeParam>>(); }

TYPED_TEST(gpu_spaces, csr_is_built_from_arrays_multiplied_and_copied_back) {
  for (const char* spec : {"poisson2d:20", "rectangular:30:200:9", "powerlaw:300:6:2.5"})
    kit::check_csr<TypeParam, gpu_memory>(generate(spec).a);
  kit::check_csr<TypeParam, gpu_memory>(coo<double>{{3, 2}, {}, {}, {}});
}

struct gpu_spaces_say : on_gpu {};

TEST_F(gpu_spaces_say, what_does_not_fit) { kit::check_sentences_of_space<gpu_space<double>>(); }

} // namespace
} // namespace furrow
