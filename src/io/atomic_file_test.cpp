// SPDX-License-Identifier: BSD-3-Clause
#include "atomic_file.hpp"

#include "io_test_kit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace furrow;
using namespace furrow::io_test;
using io::atomic_file;

namespace {

void replace(const std::filesystem::path& file, const std::string& text) {
  atomic_file out(file);
  out.write(text);
  out.commit();
}

unsigned mode_of(const std::filesystem::path& file) {
  struct stat about {};
  EXPECT_EQ(::stat(file.c_str(), &about), 0);
  return about.st_mode & 07777;
}

} // namespace

TEST(atomic_file, appears_when_it_is_complete_and_leaves_nothing_otherwise) {
  const folder here;
  put_file(here / "a", "old");
  {
    atomic_file out(here / "a");
    out.write("half");
    EXPECT_EQ(bytes_of(here / "a"), "old");
    EXPECT_EQ(here.files(), 2u);
  }
  EXPECT_EQ(bytes_of(here / "a"), "old");
  EXPECT_EQ(here.files(), 1u);
  replace(here / "a", "new");
  EXPECT_EQ(bytes_of(here / "a"), "new");
  EXPECT_EQ(here.files(), 1u);
}

TEST(atomic_file, keeps_the_mode_of_what_it_replaces) {
  const folder here;
  const mode_t before = ::umask(022);
  for (const unsigned mode : {0600u, 0640u, 0664u, 0755u}) {
    put_file(here / "a", "old");
    ASSERT_EQ(::chmod((here / "a").c_str(), mode), 0);
    replace(here / "a", "new");
    EXPECT_EQ(mode_of(here / "a"), mode);
    std::filesystem::remove(here / "a");
  }
  replace(here / "fresh", "new");
  EXPECT_EQ(mode_of(here / "fresh"), 0644u);
  ::umask(before);
}

TEST(atomic_file, keeps_the_owner_where_it_may) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const folder here;
  put_file(here / "a", "old");
  ASSERT_EQ(::chown((here / "a").c_str(), 12, 34), 0);
  replace(here / "a", "new");
  struct stat about {};
  ASSERT_EQ(::stat((here / "a").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 12u);
  EXPECT_EQ(about.st_gid, 34u);
}

TEST(atomic_file, follows_links_to_files_that_are_there_or_not) {
  const folder here;
  std::filesystem::create_directory(here / "deep");
  for (const char* target : {"there", "deep/not-yet"}) {
    if (std::string(target) == "there") put_file(here / target, "old");
    std::filesystem::create_symlink(target, here / "one");
    std::filesystem::create_symlink(here / "one", here / "two");
    replace(here / "two", "new");
    EXPECT_EQ(bytes_of(here / target), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(here / "one"));
    EXPECT_TRUE(std::filesystem::is_symlink(here / "two"));
    std::filesystem::remove(here / "one");
    std::filesystem::remove(here / "two");
  }
  std::filesystem::create_symlink("b", here / "a");
  std::filesystem::create_symlink("a", here / "b");
  EXPECT_NE(refusal([&] { replace(here / "a", "new"); }).find("a: cannot be written: Too many levels"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_symlink(here / "a"));
}

TEST(atomic_file, is_not_misled_by_files_that_lie_beside) {
  const folder here;
  const std::string start = "a.part-" + std::to_string(::getpid()) + "-";
  for (int k = 0; k < 8; ++k) put_file(here / (start + std::to_string(k)), "of one who was killed");
  replace(here / "a", "new");
  EXPECT_EQ(bytes_of(here / "a"), "new");
  EXPECT_EQ(here.files(), 9u);
}

TEST(atomic_file, takes_names_as_long_as_the_system_does) {
  const folder here;
  const std::string name(255, 'x');
  replace(here / name, "new");
  EXPECT_EQ(bytes_of(here / name), "new");
  EXPECT_NE(refusal([&] { replace(here / (name + "x"), "new"); }).find("File name too long"), std::string::npos);
}

TEST(atomic_file, writes_a_pipe_directly) {
  const folder here;
  ASSERT_EQ(::mkfifo((here / "p").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = bytes_of(here / "p"); });
  replace(here / "p", "text");
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(here / "p"));
  EXPECT_FALSE(io::is_replaced(here / "p"));
  EXPECT_FALSE(io::is_replaced("/dev/null"));
  EXPECT_TRUE(io::is_replaced(here / "none"));
}

TEST(atomic_file, refuses_to_replace_what_may_not_be_written) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const folder here;
  put_file(here / "a", "old");
  ASSERT_EQ(::chmod((here / "a").c_str(), 0444), 0);
  EXPECT_NE(refusal([&] { replace(here / "a", "new"); }).find("Permission denied"), std::string::npos);
  EXPECT_EQ(bytes_of(here / "a"), "old");
}

TEST(atomic_file, what_is_unfinished_can_be_removed_from_a_handler) {
  const folder here;
  {
    std::vector<std::unique_ptr<atomic_file>> open;
    for (int k = 0; k < 3; ++k) open.push_back(std::make_unique<atomic_file>(here / std::to_string(k)));
    EXPECT_EQ(here.files(), 3u);
    io::remove_unfinished();
    EXPECT_EQ(here.files(), 0u);
  }
  replace(here / "a", "new"); // complete: nothing to remove any more
  io::remove_unfinished();
  EXPECT_EQ(bytes_of(here / "a"), "new");
  for (int k = 0; k < 100; ++k) replace(here / "a", std::to_string(k)); // notes are given back
  EXPECT_EQ(here.files(), 1u);
}
