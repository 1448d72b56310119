// SPDX-License-Identifier: BSD-3-Clause
#include "io_test_kit.hpp"

#include <furrow/device.hpp>

#include <algorithm>
#include <cstring>

using namespace furrow;
using namespace furrow::io_test;

namespace {

using values = std::vector<double>;

values read(const std::string& bytes, std::optional<index_t> rows = {}) {
  const folder here;
  put_file(here / "v", bytes);
  const host_array<double> x = read_vector(here / "v", rows);
  return {x.begin(), x.end()};
}
std::string refused(const std::string& bytes, std::optional<index_t> rows = {}) {
  const folder here;
  put_file(here / "v", bytes);
  const std::string prefix = here.path.string() + "/", what = refusal([&] { read_vector(here / "v", rows); });
  return what.substr(std::min(prefix.size(), what.size()));
}

/// A file of NumPy.
std::string npy(const std::string& type, const std::string& shape, const std::string& data, char version = 1) {
  std::string header = "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }";
  const std::size_t before = version == 1 ? 10 : 12;
  header.append(63 - (before + header.size()) % 64, ' ') += '\n';
  std::string out = std::string("\x93NUMPY") + version + '\0';
  for (std::size_t k = 8; k < before; ++k) out += static_cast<char>(header.size() >> 8 * (k - 8));
  return out + header + data;
}
template <class T> std::string bytes_of_numbers(std::initializer_list<T> numbers, bool big_endian = false) {
  std::string out;
  for (const T n : numbers) {
    std::string one(sizeof n, '\0');
    std::memcpy(one.data(), &n, sizeof n);
    if (big_endian) std::reverse(one.begin(), one.end());
    out += one;
  }
  return out;
}

} // namespace

TEST(read_vector, arrays_coordinates_and_plain_numbers) {
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"), (values{1, 2, 3}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n4 1 2\n4 1 7\n2 1 5\n"), (values{0, 5, 0, 7}));
  EXPECT_EQ(read("1\n% note\n\n-2.5e1\n  3"), (values{1, -25, 3}));
  EXPECT_EQ(read(gzip("1\n2\n")), (values{1, 2}));
  EXPECT_EQ(refused("1\n2\nthree\n"), "v:3: the value 'three' is no number");
  EXPECT_EQ(refused("%%MatrixMarket matrix array real general\n1 2\n1\n2\n"),
            "v: a vector has one column, this file has 1 x 2");
  std::string many;
  for (int k = 0; k < 300000; ++k) many += std::to_string(k) + "\n";
  const auto x = read(many);
  ASSERT_EQ(x.size(), 300000u);
  EXPECT_EQ(x[299999], 299999);
}

TEST(read_vector, byte_order_marks_and_carriage_returns) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "2\n4\n8\n"),
            (values{2, 4, 8}));
  EXPECT_EQ(read("\xEF\xBB\xBF% note\r2\r4\r8"), (values{2, 4, 8}));
  EXPECT_EQ(read("2\r\n4\r\n"), (values{2, 4}));
  EXPECT_EQ(read("\n\r\n%%MatrixMarket vector array real general\n2\n4\n8\n"), (values{4, 8}));
  EXPECT_EQ(refused("% by hand\n\n%%MatrixMarket vector array real general\n2\n4\n8\n"),
            "v: the banner %%MatrixMarket must be the first line: comments come behind it");
  EXPECT_NE(refused("2\n4\r8\n").find("v:2: a carriage return stands inside the line"), std::string::npos);
}

TEST(read_vector, the_object_vector) {
  const std::string banner = "%%MatrixMarket vector ";
  EXPECT_EQ(read(banner + "coordinate real general\n4 3\n1 2\n4 -8\n4 1\n"), (values{2, 0, 0, -7}));
  EXPECT_EQ(read(banner + "coordinate real general\n% as Lis writes it\n3\n1 2\n3 8\n"), (values{2, 0, 8}));
  EXPECT_EQ(read(banner + "coordinate pattern general\n3 2\n1\n3\n"), (values{1, 0, 1}));
  EXPECT_EQ(read(gzip(banner + "array integer\n3\n2\n% note\n4\n8")), (values{2, 4, 8}));
  EXPECT_EQ(read(banner + "coordinate real general\n0 0\n"), values{});
  EXPECT_EQ(refused(banner + "coordinate real general\n3 1\n1 2\n\n3 8\n"),
            "v:5: more entries than the 1 that the size line promises");
  EXPECT_EQ(refused(banner + "coordinate real general\n3 2\n1 2.123456\n"),
            "v:3: the file ends after 1 of the 2 entries that its size line promises");
  EXPECT_EQ(refused(banner + "coordinate real general\n3 1\n4 2\n"), "v:3: the index '4' is outside 1 to 3");
  EXPECT_EQ(refused(banner + "coordinate real general\n3 1\n1 1 2\n"),
            "v:3: an entry is a line of two numbers: index value; this one has 3 words");
  EXPECT_EQ(refused(banner + "array real general\n3 1\n1\n2\n3\n"),
            "v:2: the size line of a vector has 2 words, not one: length");
  EXPECT_EQ(refused(banner + "array complex general\n1\n1 2\n"), "v:1: complex vectors are not supported yet");
  EXPECT_EQ(refused(banner + "array real symmetric\n1\n1\n"), "v:1: a vector is 'general', not 'symmetric'");
}

TEST(read_vector, a_length_that_nobody_wants_costs_nothing) {
  const std::string one = "2147483647 1 1\n2147483647 1 1\n";
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate real general\n" + one, 3),
            "v: has 2147483647 elements, but the matrix has 3 rows");
  EXPECT_EQ(refused("%%MatrixMarket vector coordinate real general\n2147483647\n1 1\n", 3),
            "v: has 2147483647 elements, but the matrix has 3 rows");
  EXPECT_EQ(refused(npy("'<f8'", "(2147483647,)", ""), 3), "v: has 2147483647 elements, but the matrix has 3 rows");
  EXPECT_EQ(refused("1\n2\n3\n4\n5\n", 3), "v: has 5 elements, but the matrix has 3 rows");
  EXPECT_EQ(refused("1\n2\n", 3), "v: has 2 elements, but the matrix has 3 rows");
  std::string ones;
  while (ones.size() < 3000000) ones += "1\n";
  for (const std::string& text : {ones + "what nobody reads\n", gzip(ones + "what nobody reads\n")}) {
    const std::string what = refused(text, 3);
    EXPECT_TRUE(what.starts_with("v: has at least ")) << what;
    EXPECT_TRUE(what.ends_with(" elements, but the matrix has 3 rows")) << what;
  }
  EXPECT_EQ(read("1\n2\n3\n", 3), (values{1, 2, 3}));
  if (static_cast<double>(available_host_memory()) > 8.0 * 2147483647) return; // then it would be taken
  const folder here;
  put_file(here / "v", "%%MatrixMarket matrix coordinate real general\n" + one);
  try {
    read_vector(here / "v");
    FAIL() << "was accepted";
  } catch (const error& wrong) {
    EXPECT_EQ(wrong.kind, fault::memory) << wrong.what();
  }
}

TEST(read_vector, arrays_of_numpy) {
  const values wanted{1, -2, 0.5};
  for (const bool big : {false, true}) {
    const std::string order = big ? "'>" : "'<";
    EXPECT_EQ(read(npy(order + "f8'", "(3,)", bytes_of_numbers<double>({1, -2, 0.5}, big))), wanted);
    EXPECT_EQ(read(npy(order + "f4'", "(3, 1)", bytes_of_numbers<float>({1, -2, 0.5}, big), 2)), wanted);
    EXPECT_EQ(read(npy(order + "i8'", "(2L,)", bytes_of_numbers<std::int64_t>({-5, 1LL << 40}, big))),
              (values{-5, 0x1p40}));
    EXPECT_EQ(read(npy(order + "i4'", "(2,)", bytes_of_numbers<std::int32_t>({-5, 7}, big), 3)), (values{-5, 7}));
    EXPECT_EQ(read(npy(order + "u2'", "(2,)", bytes_of_numbers<std::uint16_t>({65535, 7}, big))), (values{65535, 7}));
  }
  EXPECT_EQ(read(npy("'|i1'", "(2,)", "\xFF\x07")), (values{-1, 7}));
  EXPECT_EQ(read(npy("'<f8'", "(0,)", "")), values{});
  EXPECT_EQ(read(gzip(npy("'<f8'", "(3,)", bytes_of_numbers<double>({1, -2, 0.5})))), wanted);
  std::string many;
  for (int k = 0; k < 100000; ++k) many += bytes_of_numbers<double>({k * 0.25});
  const auto x = read(npy("'<f8'", "(100000,)", many), 100000);
  EXPECT_EQ(x[99999], 99999 * 0.25);
}

TEST(read_vector, arrays_of_numpy_that_are_refused) {
  const std::string data = bytes_of_numbers<double>({1, 2, 3, 4});
  const auto says = [&](const std::string& bytes, const std::string& what) {
    const std::string said = refused(bytes);
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  says(npy("'<c16'", "(2,)", data), "a NumPy array of type '<c16', where real numbers of 4 or 8 bytes or integers");
  says(npy("'|b1'", "(2,)", data), "type '|b1'");
  says(npy("'<U3'", "(2,)", data), "type '<U3'");
  says(npy("[('x', '<f8'), ('shape', '<f8')]", "(2,)", data), "type with fields");
  says(npy("'<f8'", "(2, 2)", data), "this NumPy array has the shape (2, 2)");
  says(npy("'<f8'", "(1, 4)", data), "shape (1, 4)");
  says(npy("'<f8'", "()", data), "shape ()");
  says(npy("'<f8'", "(x,)", data), "does not say its shape");
  says(npy("'<f8'", "(5,)", data), "cut short: 4 values in place of 5");
  says(npy("'<f8'", "(1000000000000,)", data), "cut short: 4 values in place of 1000000000000");
  says(gzip(npy("'<f8'", "(5,)", data)), "cut short");
  says(npy("'<f8'", "(3,)", data), "something follows the 3 values");
  says(npy("'<f8'", "(4,)", data, 9), "version 9");
  for (std::size_t size = 6; size < 128; size += 11) says(npy("'<f8'", "(4,)", data).substr(0, size), "cut short");
}

TEST(read_vectors, are_the_columns_of_an_array) {
  const folder here;
  const auto read_all = [&](const std::string& bytes, std::optional<index_t> rows = {}) {
    put_file(here / "v", bytes);
    vector_columns v = read_vectors(here / "v", rows);
    return std::pair(v.count, values(v.values.begin(), v.values.end()));
  };
  const values all{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(read_all("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n", 3),
            std::pair(index_t(2), all));
  const std::string by_rows = bytes_of_numbers<double>({1, 4, 2, 5, 3, 6});
  std::string fortran = npy("'<f8'", "(3, 2)", bytes_of_numbers<double>({1, 2, 3, 4, 5, 6}));
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_EQ(read_all(npy("'<f8'", "(3, 2)", by_rows), 3), std::pair(index_t(2), all));
  EXPECT_EQ(read_all(fortran), std::pair(index_t(2), all));
  EXPECT_EQ(read_all("1\n2\n"), std::pair(index_t(1), values{1, 2}));
  EXPECT_EQ(read_all("%%MatrixMarket matrix array real general\n2 1\n1\n2\n"), std::pair(index_t(1), values{1, 2}));
}

TEST(read_vectors, as_other_programs_write_text_are_refused_with_what_to_do) {
  const auto refused_columns = [](const std::string& bytes) {
    const folder here;
    put_file(here / "v", bytes);
    return refusal([&] { read_vectors(here / "v"); }).substr(here.path.string().size() + 1);
  };
  for (const char* text : {"% two\r\n\r\n1 2\r\n3 4\r\n", "\xEF\xBB\xBF%\r\r 1\t2 \r", "\n\n1.5 2"})
    EXPECT_EQ(refused_columns(text),
              "v:3: a line has one number, and this one has several words: columns are those of an "
              "array of NumPy (.npy) or of an 'array real general' of Matrix Market");
  EXPECT_EQ(refused("1\n3 4\n"), "v:2: an entry is a line of one value; this one has 2 words");
  EXPECT_NE(refused("\n1\r2\n").find("a carriage return stands inside"), std::string::npos);
  EXPECT_EQ(read("\r\n%%\r1 2", 0), values{}); // a comment with a CR inside
  EXPECT_EQ(read("\r\n1 \r\n", 1), values{1});
  EXPECT_EQ(refused("\n # by numpy.savetxt\n1\n"),
            "v:2: a comment begins with '%', not with '#': numpy.savetxt writes such with comments='%'");
}

TEST(read_vectors, of_other_shapes_are_refused) {
  const folder here;
  const auto says = [&](const std::string& bytes, const std::string& part, std::optional<index_t> rows = {}) {
    put_file(here / "v", bytes);
    const std::string what = refusal([&] { read_vectors(here / "v", rows); });
    EXPECT_NE(what.find(part), std::string::npos) << what;
  };
  says("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n", "has 3 elements, but the matrix has 4 rows",
       4);
  says("%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n",
       "this file has 3 x 2: several are columns of an 'array real general'");
  says("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", "this file has 2 x 2");
  says("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n", "the size line promises 6 entries");
  says(npy("'<f8'", "(3, 0)", ""), "shape (3, 0)");
  says(npy("'<f8'", "(1, 2, 2)", bytes_of_numbers<double>({1, 2, 3, 4})), "shape (1, 2, 2)");
  says(npy("'<f8'", "(2, 2)", bytes_of_numbers<double>({1, 2, 3})), "cut short: 3 values in place of 4");
  EXPECT_NE(refused("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n").find("one column"),
            std::string::npos);
}

TEST(write_vectors, read_back_as_the_same_bits) {
  const folder here;
  const host_array<double> x{1.5, -2, 1e-300, 4, 0.1, 7};
  for (const char* name : {"x.mtx", "x.mtx.gz", "x.npy"})
    for (const index_t count : {1, 2, 3}) {
      write_vectors(as_cview(x), count, here / name);
      const vector_columns back = read_vectors(here / name, 6 / count);
      EXPECT_EQ(back.count, count) << name;
      EXPECT_TRUE(std::equal(x.begin(), x.end(), back.values.begin(), back.values.end())) << name;
    }
  EXPECT_THROW(write_vectors(as_cview(x), 2, here / "x.txt"), error);
  EXPECT_THROW(write_vectors(as_cview(x), 4, here / "x.mtx"), error);
}

TEST(read_vector, other_kinds_are_named) {
  const std::string advice = "; scipy.io.mmwrite writes a matrix, numpy.savetxt a vector that can be read";
  const auto is = [&](const std::string& bytes) {
    const std::string what = refused(bytes + std::string(300, '\x01'));
    const std::string start = "v: neither a Matrix Market file nor numbers, one a line: it is ";
    EXPECT_TRUE(what.starts_with(start)) << what;
    return what.substr(std::min(start.size(), what.size()));
  };
  EXPECT_EQ(is("MATLAB 5.0 MAT-file"), "a MATLAB file" + advice);
  EXPECT_EQ(is("PK\x03\x04"), "a zip archive, as .npz files are" + advice);
  EXPECT_EQ(is("\x89HDF\r\n\x1A\n"), "an HDF5 file" + advice);
  EXPECT_EQ(is("\xFF\xFE"
               "1"),
            "text in UTF-16; iconv -f UTF-16 -t UTF-8 converts it");
  EXPECT_EQ(is("\x02\x03"), "binary data");
}
