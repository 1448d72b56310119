// SPDX-License-Identifier: BSD-3-Clause
#include "io_test_kit.hpp"

#include <furrow/device.hpp>

using namespace furrow;
using namespace furrow::io_test;

namespace {

/// Bytes as PETSc's manual says them, written down without the code under test.
std::string big_endian(std::uint64_t bits, int bytes) {
  std::string text;
  for (int k = bytes - 1; k >= 0; --k) text += static_cast<char>(bits >> 8 * k & 255);
  return text;
}
std::string ints(const std::vector<std::int64_t>& numbers, int bytes = 4) {
  std::string text;
  for (const std::int64_t n : numbers) text += big_endian(static_cast<std::uint64_t>(n), bytes);
  return text;
}
std::string reals(const std::vector<double>& numbers) {
  std::string text;
  for (const double v : numbers) text += big_endian(std::bit_cast<std::uint64_t>(v), 8);
  return text;
}
/// [1.5 0 -2; 0 0 0; 4 1e300 -0]
const std::string sizes = ints({1211216, 3, 3, 5}), lengths = ints({2, 0, 3}), columns = ints({0, 2, 0, 1, 2});
const std::string values = reals({1.5, -2, 4, 1e300, -0.0}), small = sizes + lengths + columns + values;
const std::string side = ints({1211214, 3}) + reals({7, -8, 0.1});

std::string refusal(const std::string& bytes, auto read) {
  const folder here;
  put_file(here / "a.petsc", bytes);
  try {
    read(here / "a.petsc");
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::input) << e.what();
    const std::string said = e.what(), name = (here / "a.petsc").string() + ": ";
    EXPECT_TRUE(said.starts_with(name)) << said;
    EXPECT_EQ(said.find('\n'), said.npos) << said;
    return said.starts_with(name) ? said.substr(name.size()) : said;
  }
  return {};
}
std::string matrix_refusal(const std::string& bytes) {
  return refusal(bytes, [](const auto& file) { read_matrix(file); });
}
std::string vector_refusal(const std::string& bytes, std::optional<index_t> rows = {}) {
  return refusal(bytes, [&](const auto& file) { read_vector(file, rows); });
}

TEST(petsc, matrix_is_read) {
  const folder here;
  put_file(here / "a.petsc", small);
  put_file(here / "b.petsc.gz", gzip(small + side));
  const matrix_header head = read_header(here / "a.petsc");
  EXPECT_EQ(head.shape, (shape2{3, 3}));
  EXPECT_EQ(head.stored, 5);
  const problem p = read_matrix(here / "a.petsc"), q = read_matrix(here / "b.petsc.gz");
  const std::vector<entry> wanted{{0, 0, 1.5}, {0, 2, -2}, {2, 0, 4}, {2, 1, 1e300}, {2, 2, -0.0}};
  for (const problem* one : {&p, &q}) {
    EXPECT_EQ(one->a.shape, (shape2{3, 3}));
    EXPECT_EQ(list(one->a), wanted);
    EXPECT_TRUE(std::signbit(one->a.val[4]));
  }
  EXPECT_EQ(p.name, "a");
  EXPECT_FALSE(p.b.has_value());
  ASSERT_TRUE(q.b.has_value());
  EXPECT_EQ(std::vector<double>(q.b->begin(), q.b->end()), (std::vector<double>{7, -8, 0.1}));
}

TEST(petsc, dense_matrix_and_rows_that_are_not_sorted_are_read) {
  const folder here;
  put_file(here / "dense.petsc", ints({1211216, 2, 3, -1}) + reals({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(list(read_matrix(here / "dense.petsc").a),
            (std::vector<entry>{{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 4}, {1, 1, 5}, {1, 2, 6}}));
  put_file(here / "mixed.petsc", ints({1211216, 2, 3, 4}) + ints({3, 1}) + ints({2, 0, 2, 1}) + reals({1, 2, 4, 8}));
  EXPECT_EQ(list(read_matrix(here / "mixed.petsc").a), (std::vector<entry>{{0, 0, 2}, {0, 2, 5}, {1, 1, 8}}));
  put_file(here / "rows.petsc", ints({1211216, 838861569, 0, -1})); // at once, though it has so many rows
  EXPECT_EQ(read_matrix(here / "rows.petsc").a.shape, (shape2{838861569, 0}));
  put_file(here / "none.petsc", ints({1211216, 0, 0, 0}));
  EXPECT_EQ(read_matrix(here / "none.petsc").a.shape, (shape2{0, 0}));
}

TEST(petsc, vector_is_read) {
  const folder here;
  put_file(here / "b.petsc", side);
  put_file(here / "b.gz", gzip(side));
  for (const char* name : {"b.petsc", "b.gz"}) {
    const auto b = read_vector(here / name, 3);
    EXPECT_EQ(std::vector<double>(b.begin(), b.end()), (std::vector<double>{7, -8, 0.1}));
  }
  put_file(here / "none.petsc", ints({1211214, 0}));
  EXPECT_EQ(read_vector(here / "none.petsc").size(), 0);
}

TEST(petsc, is_written_as_it_is_read) {
  const folder here;
  const coo<double> a = make({3, 3}, {{0, 0, 1.5}, {0, 2, -2}, {2, 0, 4}, {2, 1, 1e300}, {2, 2, -0.0}});
  write_petsc({a, {}, "a", ""}, here / "a.petsc");
  EXPECT_EQ(bytes_of(here / "a.petsc"), small);
  const host_array<double> b{7, -8, 0.1};
  write_petsc({a, b, "a", ""}, here / "ab.petsc");
  EXPECT_EQ(bytes_of(here / "ab.petsc"), small + side);
  write_vector(as_cview(b), here / "b.petsc");
  EXPECT_EQ(bytes_of(here / "b.petsc"), side);
  EXPECT_THROW(write_vectors(as_cview(b), 3, here / "b.petsc"), error);
  EXPECT_THROW(write_petsc({a, host_array<double>{1, 2}, "a", ""}, here / "a.petsc"), error);
}

TEST(petsc, long_one_comes_back) {
  const folder here;
  dice d = dice_of_this_run(11);
  std::vector<entry> entries; // some blocks of 256 KiB
  for (std::int32_t i = 0; i < 3000; ++i)
    for (std::int32_t j = 0; j < 40; ++j)
      entries.push_back({i, 70 * j + static_cast<std::int32_t>(d.below(70)), double(d.next())});
  const coo<double> a = make({3000, 2800}, entries);
  write_petsc({a, {}, "", ""}, here / "a.petsc");
  EXPECT_EQ(list(read_matrix(here / "a.petsc").a), list(a));
  host_array<double> x(100000);
  for (double& v : x) v = double(d.next());
  write_vector(as_cview(x), here / "x.petsc");
  const auto back = read_vector(here / "x.petsc");
  EXPECT_TRUE(std::equal(x.begin(), x.end(), back.begin(), back.end()));
}

TEST(petsc, other_files_are_refused_with_what_they_are) {
  EXPECT_EQ(
      matrix_refusal(ints({1211216, 3, 3, 5}, 8) + ints({2, 0, 3, 0, 2, 0, 1, 2}, 8) + values),
      "a PETSc file with integers of 64 bits: a PETSc of 32-bit integers and real scalars writes what can be read");
  EXPECT_EQ(
      matrix_refusal(sizes + lengths + columns + std::string(20, '\1')),
      "a matrix of PETSc in single precision: a PETSc of 32-bit integers and real scalars writes what can be read");
  EXPECT_EQ(matrix_refusal(small + values), "a matrix of PETSc with as many bytes again behind its values: they are "
                                            "complex, and Furrow is real");
  EXPECT_EQ(vector_refusal(side + reals({1, 2, 3})),
            "a vector of PETSc with as many bytes again behind its values: they are complex, and Furrow is real");
  EXPECT_EQ(matrix_refusal(side), "a vector of PETSc, where a matrix is wanted");
  EXPECT_EQ(vector_refusal(small), "a matrix of PETSc, where a vector is wanted");
  EXPECT_EQ(matrix_refusal(ints({1211218, 3})),
            "a PETSc file of the class 1211218, where 1211216 is a matrix and 1211214 a vector");
  EXPECT_EQ(matrix_refusal(small + small), "something that is no right-hand side follows a matrix in the PETSc file");
  EXPECT_EQ(vector_refusal(side + "x"), "something follows a vector in the PETSc file");
  EXPECT_EQ(vector_refusal(side, 4), "has 3 elements, but the matrix has 4 rows");
  EXPECT_EQ(matrix_refusal(small + ints({1211214, 2}) + reals({1, 2})), "has 2 elements, but the matrix has 3 rows");
  EXPECT_EQ(matrix_refusal(sizes + ints({2, -1, 4}) + columns + values),
            "row 2 of the PETSc matrix has -1 entries, of 5 in all, 2 before it");
  EXPECT_EQ(matrix_refusal(sizes + ints({2, 0, 4}) + columns + values),
            "row 3 of the PETSc matrix has 4 entries, of 5 in all, 2 before it");
  EXPECT_EQ(matrix_refusal(sizes + ints({2, 0, 2}) + columns + values),
            "the rows of the PETSc matrix have 4 entries, where its header says 5");
  EXPECT_EQ(matrix_refusal(sizes + lengths + ints({0, 3, 0, 1, 2}) + values),
            "entry 2 of the PETSc matrix is in column 4 of 3");
  EXPECT_EQ(matrix_refusal(ints({1211216, -3, 3, 5}) + lengths + columns + values),
            "the PETSc file has a matrix of -3 x 3 with 5 entries");
  EXPECT_EQ(matrix_refusal(ints({1211216, 0, 3, 5}) + columns + values), "a matrix of 0 x 3 cannot have 5 entries");
  EXPECT_EQ(vector_refusal(ints({1211214, -1})), "the PETSc file has a vector of -1 elements");
}

/// A size that nobody has memory for is seen by the length of the file, before memory is taken.
TEST(petsc, sizes_are_held_to_the_length_of_the_file) {
  EXPECT_EQ(matrix_refusal(ints({1211216, 2000000000, 2000000000, 2000000000}) + std::string(1000, '\0')),
            "the PETSc file is cut short: its columns do not fit");
  EXPECT_EQ(matrix_refusal(ints({1211216, 2000000000, 2000000000, -1}) + std::string(1000, '\0')),
            "the PETSc file is cut short: it has 125 of 4e+18 values of a matrix");
  EXPECT_EQ(vector_refusal(ints({1211214, 2000000000}) + reals({1, 2})),
            "the PETSc file is cut short: it has 2 of 2000000000 values of a vector");
}

TEST(petsc, file_that_is_cut_anywhere_is_refused) {
  const std::string both = small + side;
  for (std::size_t size = 3; size < both.size(); ++size) { // fewer bytes look like no kind of file
    if (size == small.size()) continue;                    // a matrix alone
    EXPECT_NE(matrix_refusal(both.substr(0, size)), "") << size;
    if (size > 4) {
      const folder here; // of a packed one nobody knows the length
      put_file(here / "a.gz", gzip(both.substr(0, size)));
      EXPECT_THROW(read_matrix(here / "a.gz"), error) << size;
    }
  }
  for (std::size_t size = 3; size < side.size(); ++size) EXPECT_NE(vector_refusal(side.substr(0, size)), "") << size;
}

TEST(petsc, mutations_are_read_or_refused_in_a_sentence) {
  const folder here;
  dice d = dice_of_this_run(12);
  for (int turn = 0; turn < 4000; ++turn) {
    std::string bytes = turn % 4 == 0 ? side : turn % 2 ? small : small + side;
    for (std::size_t k = 1 + d.below(3); k > 0; --k) {
      const std::size_t at = d.below(bytes.size());
      switch (d.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(d.next());
        break;
      case 1:
        bytes.insert(at, 1, static_cast<char>(d.next()));
        break;
      case 2:
        bytes.erase(at, 1 + d.below(4));
        break;
      default:
        bytes.resize(at);
      }
      if (bytes.empty()) bytes = "\1";
    }
    put_file(here / "a.petsc", bytes);
    const std::string name = (here / "a.petsc").string();
    const auto good = [&](auto read) {
      try {
        read();
      } catch (const error& e) {
        const std::string said = e.what();
        EXPECT_TRUE(e.kind == fault::input || e.kind == fault::memory) << said;
        EXPECT_TRUE(said.starts_with(name)) << said;
        EXPECT_EQ(said.find('\n'), said.npos) << said;
      }
    };
    good([&] { check_triplets(read_matrix(here / "a.petsc").a); });
    good([&] { read_vector(here / "a.petsc"); });
    good([&] { read_header(here / "a.petsc"); });
  }
}

} // namespace
