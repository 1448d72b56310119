// SPDX-License-Identifier: BSD-3-Clause
#include "environment.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace furrow {
namespace {

TEST(environment, values_are_those_of_listed_names) {
  unsetenv("FURROW_CACHE"); // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(environment("FURROW_CACHE"), "");
  setenv("FURROW_CACHE", "here", 1); // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(environment("FURROW_CACHE"), "here");
  unsetenv("FURROW_CACHE"); // NOLINT(concurrency-mt-unsafe)
  EXPECT_THROW(environment("NOBODY_LISTENS"), error);
}

TEST(environment, values_without_sense_are_refused_by_name) {
  check_environment();
  const std::pair<const char*, const char*> wrong[] = {{"FURROW_GRAPHS", "maybe"},
                                                       {"FURROW_FORMAT", "cssr"},
                                                       {"FURROW_KERNEL", "fastest:lanes=2"},
                                                       {"FURROW_ISA", "sse"},
                                                       {"OMPI_COMM_WORLD_SIZE", "abc"},
                                                       {"OMPI_COMM_WORLD_SIZE", "0"},
                                                       {"PMI_SIZE", "-3"},
                                                       {"PMI_SIZE", "4x"},
                                                       {"OMPI_COMM_WORLD_RANK", "first"},
                                                       {"PMI_RANK", "99999999999999"},
                                                       {"PMI_RANK", "-1"}};
  for (const auto& [name, value] : wrong) {
    setenv(name, value, 1); // NOLINT(concurrency-mt-unsafe)
    const std::string begin = std::string(name) + "=" + value + ": ";
    for (const bool all : {false, true}) {
      try {
        all ? check_environment() : void(environment(name));
        ADD_FAILURE() << begin;
      } catch (const error& e) {
        EXPECT_EQ(e.kind, fault::usage);
        EXPECT_TRUE(std::string(e.what()).starts_with(begin)) << e.what();
      }
    }
    unsetenv(name); // NOLINT(concurrency-mt-unsafe)
  }
  const std::pair<const char*, const char*> right[] = {
      {"FURROW_GRAPHS", "off"},  {"FURROW_GRAPHS", ""},     {"FURROW_FORMAT", "sell:8"}, {"FURROW_FORMAT", "auto"},
      {"FURROW_KERNEL", "rows"}, {"FURROW_KERNEL", "auto"}, {"PMI_SIZE", "1"},           {"PMI_RANK", "0"}};
  for (const auto& [name, value] : right) {
    setenv(name, value, 1); // NOLINT(concurrency-mt-unsafe)
    EXPECT_EQ(environment(name), value);
    unsetenv(name); // NOLINT(concurrency-mt-unsafe)
  }
}

} // namespace
} // namespace furrow
