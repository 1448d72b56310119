// SPDX-License-Identifier: BSD-3-Clause
#include "core/look.hpp"

#include "kit/matrices.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace furrow {
namespace {

/// Bytes that hdia, packed and stencil expect to take in f64, on a matrix of every generator, of which they look at all
/// rows. A format is chosen by them. Of a large one hdia and packed look at a sample.
struct expected_bytes {
  const char* generator;
  std::array<double, 3> bytes;
};
const expected_bytes golden[] = {
    {"poisson1d:1000", {25972, 9872, 1108}},
    {"poisson2d:50", {105356, 39656, 2944}},
    {"poisson3d:30", {1564296, 685200.183986, 28584}},
    {"stencil2d9:40", {118832, 38544, 2236}},
    {"stencil3d27:20", {1684680, 495090.83871, 11836}},
    {"anisotropic2d:40:0.01", {67088, 25096, 2044}},
    {"convection2d:100:10", {420932, 158044, 10444}},
    {"elasticity3d:12", {5133556, 1055364.36242505, 41365.0832182}},
    {"random:4000:6", {277016, 246000, 340012}},
    {"banded:5000:9:60", {525476, 429232, 602084}},
    {"powerlaw:20000:8:2.3", {11971764, 3771540, 2059616}},
    {"rectangular:3000:2000:50", {1807824, 1380672, 1839012}},
    {"dense:60", {37136, 35088, 43992}},
    {"disc2d:60", {144196, 66868, 8076}},
    {"ball3d:20", {392664, 146680, 24380}},
    {"varying3d:12:3", {99160, 32560, 34812}},
};

TEST(looks, expect_of_every_generator_what_was_expected_before) {
  for (const auto& g : generators()) {
    const std::string name = g.usage.substr(0, g.usage.find(':'));
    EXPECT_TRUE(std::ranges::any_of(
        golden, [&](const expected_bytes& e) { return std::string(e.generator).starts_with(name + ":"); }))
        << name << " is missing here";
  }
  for (const auto& e : golden) {
    SCOPED_TRACE(e.generator);
    const stats s = measure(generate(e.generator).a);
    const char* const formats[] = {"hdia", "packed", "stencil"};
    for (std::size_t k = 0; k < e.bytes.size(); ++k)
      EXPECT_NEAR(find_format(formats[k]).lay_out(s, precision::f64, {}).bytes, e.bytes[k],
                  (k < 2 && s.nnz > sampled_entries ? 0.03 : 1e-9) * e.bytes[k])
          << formats[k];
  }
}

TEST(looks, come_in_the_order_of_their_formats_and_are_found_by_name) {
  EXPECT_TRUE(std::ranges::is_sorted(format_looks(), {}, &format_look::format));
  const stats s = measure(kit::laplacian(20, 20));
  ASSERT_EQ(s.estimates.size(), format_looks().size());
  for (const format_look* look : format_looks()) {
    EXPECT_EQ(find_format(look->format).name, look->format);
    EXPECT_NE(estimate_of(s, look->format), nullptr);
  }
  EXPECT_EQ(estimate_of(s, "csr"), nullptr);
  EXPECT_EQ(estimate_of(stats{}, "hdia"), nullptr);
}

} // namespace
} // namespace furrow
