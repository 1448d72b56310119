// SPDX-License-Identifier: BSD-3-Clause
#include "late_library.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <dlfcn.h>
#include <link.h>

namespace furrow {
namespace {

using path = std::filesystem::path;

struct late : testing::Test {
  path folder = path(testing::TempDir()) / "furrow_late_library";
  void SetUp() override {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(late, is_opened_where_the_loader_looks) {
  const auto l = open_late({"libfurrow_none.so.1", "libm.so.6"}, {});
  ASSERT_NE(l.handle, nullptr);
  EXPECT_EQ(l.file, "libm.so.6");
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(l.has("cos", cosine));
  EXPECT_EQ(cosine(0), 1);
  EXPECT_FALSE(l.has("furrow_none", cosine));
  EXPECT_EQ(cosine, nullptr);
}

TEST_F(late, is_opened_in_a_folder_of_ours) {
  const auto z = open_late({"libz.so.1"}, {});
  link_map* loaded = nullptr;
  ASSERT_EQ(dlinfo(z.handle, RTLD_DI_LINKMAP, &loaded), 0);
  const path there = folder / "libfurrow_late.so.1";
  std::filesystem::create_symlink(loaded->l_name, there);
  const auto l = open_late({"libfurrow_late.so.1"}, {folder / "none", folder});
  ASSERT_NE(l.handle, nullptr) << l.why;
  EXPECT_EQ(l.file, there);
}

TEST_F(late, says_where_one_that_is_not_there_was_looked_for_and_why_another_does_not_open) {
  const auto gone = open_late({"libfurrow_none.so.1"}, {folder});
  EXPECT_EQ(gone.handle, nullptr);
  EXPECT_EQ(gone.why, "is not found where the loader looks, nor in " + folder.string());
  std::ofstream(folder / "libfurrow_none.so.1") << "no library";
  const auto broken = open_late({"libfurrow_none.so.1"}, {folder});
  EXPECT_EQ(broken.handle, nullptr);
  EXPECT_TRUE(broken.why.starts_with("cannot be loaded (" + (folder / "libfurrow_none.so.1: ").string())) << broken.why;
  double (*f)(double) = nullptr;
  EXPECT_FALSE(broken.has("cos", f));
}

TEST_F(late, looks_beside_the_python_package_that_it_is_part_of) {
  const path own = folder / "furrow" / "libfurrow.so";
  std::filesystem::create_directories(own.parent_path());
  EXPECT_EQ(cuda_folders("cufft", own), (std::vector<path>{"/usr/local/cuda/lib64", "/usr/local/cuda/lib"}));
  std::ofstream(own.parent_path() / "__init__.py") << "";
  EXPECT_EQ(cuda_folders("cufft", own),
            (std::vector<path>{"/usr/local/cuda/lib64", "/usr/local/cuda/lib", folder / "nvidia" / "cu13" / "lib",
                               folder / "nvidia" / "cufft" / "lib"}));
}

TEST_F(late, names_the_places) {
  EXPECT_EQ(places_text({}), "where the loader looks");
  EXPECT_EQ(places_text({"/a"}), "where the loader looks, nor in /a");
  EXPECT_EQ(places_text({"/a", "/b", "/c"}), "where the loader looks, nor in /a, /b or /c");
}

} // namespace
} // namespace furrow
