// SPDX-License-Identifier: BSD-3-Clause
#include "io_test_kit.hpp"

using namespace furrow;
using namespace furrow::io_test;

namespace {

const std::string matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n";
const std::string side = "%%MatrixMarket matrix array real general\n2 1\n5\n6\n";
const std::vector<entry> wanted{{0, 0, 3}, {1, 1, 4}};

struct archive_file {
  folder here;
  std::filesystem::path file = here / "m.tar.gz";
  explicit archive_file(const std::string& tar, bool packed = true) { put_file(file, packed ? gzip(tar) : tar); }
};

} // namespace

TEST(archive, matrix_and_right_hand_side) {
  for (const bool packed : {true, false}) {
    const archive_file a(tar_member("m/readme.txt", "hello") + tar_member("m/m_b.mtx", side) +
                             tar_member("m/m.mtx", matrix) + tar_member("m/m_x.mtx", side) + tar_end,
                         packed);
    const problem p = read_matrix(a.file);
    EXPECT_EQ(list(p.a), wanted);
    ASSERT_TRUE(p.b);
    EXPECT_EQ((std::vector<double>(p.b->begin(), p.b->end())), (std::vector<double>{5, 6}));
    EXPECT_EQ(p.name, "m");
    EXPECT_EQ(read_header(a.file).stored, 2);
  }
}

TEST(archive, a_matrix_with_another_name) {
  const archive_file a(tar_member("x/other_b.mtx", side) + tar_member("x/other.mtx", matrix) + tar_end);
  const problem p = read_matrix(a.file);
  EXPECT_EQ(list(p.a), wanted);
  EXPECT_TRUE(p.b);
  EXPECT_EQ(p.name, "other");
}

TEST(archive, attributes_of_a_macintosh_are_no_matrix) {
  const archive_file a(tar_member("._x.mtx", std::string("\0\5\x16\7", 4)) + tar_member("x.mtx", matrix) + tar_end);
  EXPECT_EQ(list(read_matrix(a.file).a), wanted);
}

TEST(archive, what_is_refused) {
  const auto refused = [](const std::string& tar, bool packed = true) {
    const archive_file a(tar, packed);
    return refusal([&] { read_matrix(a.file); });
  };
  EXPECT_TRUE(refused(tar_member("m/readme.txt", "hello") + tar_end)
                  .ends_with("m.tar.gz: the archive has no Matrix Market file (.mtx)"));
  for (const char* name : {"../m.mtx", "m/../../m.mtx", "/etc/m.mtx", ".."})
    EXPECT_NE(
        refused(tar_member("m/m.mtx", matrix) + tar_member(name, matrix) + tar_end).find("a name that leads outside"),
        std::string::npos)
        << name;
  EXPECT_NE(refused(tar_member("x/a.mtx", matrix) + tar_member("x/b.mtx", matrix) + tar_end).find("several matrices"),
            std::string::npos);
  EXPECT_TRUE(refused(tar_member("m/m.mtx", matrix + "1 1 1\n") + tar_end)
                  .ends_with("m.tar.gz(m/m.mtx):5: more entries than the 2 that the size line promises"));
  EXPECT_NE(refused(tar_member("m/m.mtx", matrix) +
                    tar_member("m/m_b.mtx", "%%MatrixMarket matrix array real general\n3 1\n5\n6\n7\n") + tar_end)
                .find("has 3 values, but the matrix has 2 rows"),
            std::string::npos);
  EXPECT_TRUE(refused(tar_member("m\n\x1B[1m/m.mtx", matrix + "1 1 1\n") + tar_end)
                  .ends_with("m.tar.gz(m??[1m/m.mtx):5: more entries than the 2 that the size line promises"));
  const std::string whole = gzip(tar_member("m/m.mtx", matrix) + tar_end);
  EXPECT_TRUE(refused(whole.substr(0, whole.size() - 9), false).ends_with("the gzip stream is cut short"));
  EXPECT_NE(refused(tar_member("m/m.mtx", matrix).substr(0, 540)).find("the archive is damaged"), std::string::npos);
}

TEST(archive, two_files_that_could_be_meant_are_refused) {
  const std::string main = tar_member("m/m.mtx", matrix), own = tar_member("m/m_b.mtx", side);
  const auto refused = [](const std::string& tar) {
    const archive_file a(tar + tar_end);
    return refusal([&] { read_matrix(a.file); });
  };
  EXPECT_TRUE(refused(main + own + main)
                  .ends_with("m.tar.gz: the archive has 'm/m.mtx' more than once: unpack it, and name the file"));
  for (const std::string& twice : {main + own + own, own + main + own, own + own + main})
    EXPECT_TRUE(refused(twice).ends_with("has 'm/m_b.mtx' more than once: unpack it, and name the file"));
  EXPECT_NE(refused(tar_member("x.mtx", matrix) + tar_member("x.mtx", matrix)).find("has 'x.mtx' more than once"),
            std::string::npos);
  EXPECT_TRUE(
      refused(main + tar_member("n/n.mtx", matrix))
          .ends_with("has several matrices ('m/m.mtx' and 'n/n.mtx' among them): unpack it, and name one of them"));
}

TEST(archive, files_that_belong_to_other_matrices_are_passed_over) {
  // Each of them would take 16 GiB, or be refused, if it were read.
  const std::string huge = "%%MatrixMarket matrix coordinate real general\n2147483647 1 1\n1 1 1\n";
  const std::string others = tar_member("x/x0_b.mtx", huge) + tar_member("m/other_b.mtx", huge) +
                             tar_member("x/m_b.mtx", huge) + tar_member("m/n.mtx", "no matrix") +
                             tar_member("n/n_b.mtx", "no vector");
  for (const std::string& own : {tar_member("m/m_b.mtx", side), std::string()})
    for (const bool before : {true, false}) {
      const std::string main = tar_member("m/m.mtx", matrix);
      const archive_file a(others + (before ? own + main : main + own) + others + tar_end);
      const problem p = read_matrix(a.file);
      EXPECT_EQ(list(p.a), wanted);
      EXPECT_EQ(p.b.has_value(), !own.empty());
    }
  const archive_file wrong(tar_member("m/m.mtx", matrix) + tar_member("m/m_b.mtx", huge) + tar_end);
  EXPECT_TRUE(refusal([&] {
                read_matrix(wrong.file);
              }).ends_with("'m/m_b.mtx' has 2147483647 values, but the matrix has 2 rows"));
}

TEST(archive, names_are_shown_without_what_controls_a_terminal) {
  const archive_file a(tar_member("m/\x1b[31m\n\u202e\xe9\u00e9.mtx", matrix + "x") + tar_end);
  const std::string said = refusal([&] { read_matrix(a.file); });
  EXPECT_TRUE(said.find("(m/?[31m???\u00e9.mtx):5: ") != std::string::npos) << said;
}

TEST(archive, sides_that_are_not_used) {
  const archive_file complex_side(
      tar_member("m/m.mtx", matrix) +
      tar_member("m/m_b.mtx", "%%MatrixMarket matrix array complex general\n2 1\n5 1\n6 1\n") + tar_end);
  const problem p = read_matrix(complex_side.file);
  EXPECT_FALSE(p.b);
  EXPECT_TRUE(p.origin.ends_with("without its complex right-hand side")) << p.origin;
  const archive_file two(tar_member("m/m.mtx", matrix) +
                         tar_member("m/m_b.mtx", "%%MatrixMarket matrix array real general\n2 2\n5\n6\n7\n8\n") +
                         tar_end);
  const problem q = read_matrix(two.file);
  ASSERT_TRUE(q.b);
  EXPECT_EQ((*q.b)[1], 6);
  EXPECT_TRUE(q.origin.ends_with("the first of 2 right-hand sides")) << q.origin;
}

TEST(gzip, members_and_padding) {
  const folder here;
  const auto file = here / "m.mtx.gz";
  put_file(file, gzip(matrix.substr(0, 60)) + gzip(matrix.substr(60)) + std::string(300, '\0'));
  EXPECT_EQ(list(read_matrix(file).a), wanted);
  put_file(file, gzip(matrix) + "x");
  EXPECT_TRUE(refusal([&] { read_matrix(file); }).ends_with("there is something else behind the gzip stream"));
}
