// SPDX-License-Identifier: BSD-3-Clause
#include "cache_layout.hpp"
#include "checksum.hpp"
#include "io_test_kit.hpp"

#include "kit/said_by.hpp"

#include <furrow/device.hpp>

#include <csignal>
#include <cstddef>
#include <limits>
#include <sys/resource.h>

using namespace furrow;
using namespace furrow::io_test;

namespace {

coo<double> random_matrix(index_t rows, index_t cols, int most, std::uint64_t seed) {
  dice d{seed};
  std::vector<entry> out;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = static_cast<index_t>(d.below(5)), n = 0; j < cols && n < most;
         j += 1 + static_cast<index_t>(d.below(9)), ++n) {
      double v = std::bit_cast<double>(d.next());
      if (!(v - v == 0)) v = -0.0;
      if (d.below(5) == 0) v = std::bit_cast<double>(d.next() & 0x800FFFFFFFFFFFFFu); // denormal
      if (d.below(9) == 0) v = std::numeric_limits<double>::max();
      out.push_back({i, j, v});
    }
  return make({rows, cols}, out);
}

} // namespace

TEST(write_matrix, the_same_bits_come_back) {
  const folder here;
  const coo<double> a = random_matrix(3000, 700, 40, 1);
  for (const char* name : {"a.mtx", "a.mtx.gz"})
    for (const int n : {1, 3}) {
      set_threads(n);
      write_matrix(a, here / name, "first\nsecond");
      const problem p = read_matrix(here / name);
      EXPECT_EQ(p.a.shape, a.shape);
      EXPECT_EQ(list(p.a), list(a));
      EXPECT_EQ(p.name, "a");
    }
  set_threads(0);
  EXPECT_TRUE(bytes_of(here / "a.mtx")
                  .starts_with("%%MatrixMarket matrix coordinate real general\n% first\n% second\n3000 700 "));
  EXPECT_EQ(here.files(), 2u);
}

TEST(write_matrix, symmetric_matrices_are_halved) {
  const folder here;
  const std::vector<entry> both{{0, 0, 1}, {0, 2, -0.0}, {1, 1, 3}, {2, 0, -0.0}, {2, 2, 0.1}};
  write_matrix(make({3, 3}, both), here / "s.mtx");
  EXPECT_EQ(bytes_of(here / "s.mtx"),
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 2 3\n3 1 -0\n3 3 0.1\n");
  EXPECT_EQ(list(read_matrix(here / "s.mtx").a), both);
  for (const auto& nearly : {std::vector<entry>{{0, 1, 1}, {1, 0, 2}},
                             {{0, 1, 1}},
                             {{1, 0, 1}},
                             {{0, 1, 0.0}, {1, 0, -0.0}},
                             {{0, 1, 1}, {0, 2, 1}, {1, 0, 1}},
                             {{0, 2, 1}, {1, 0, 1}}}) {
    write_matrix(make({3, 3}, nearly), here / "g.mtx");
    EXPECT_TRUE(bytes_of(here / "g.mtx").starts_with("%%MatrixMarket matrix coordinate real general\n"));
    EXPECT_EQ(list(read_matrix(here / "g.mtx").a), nearly);
  }
}

TEST(write_matrix, empty_and_not_finite) {
  const folder here;
  for (const shape2 shape : {shape2{0, 0}, shape2{0, 5}, shape2{5, 0}, shape2{4, 4}, shape2{2147483647, 2147483647}}) {
    write_matrix(make(shape, {}), here / "e.mtx");
    EXPECT_EQ(read_matrix(here / "e.mtx").a.shape, shape);
  }
  const double inf = std::numeric_limits<double>::infinity();
  write_matrix(make({1, 2}, {{0, 0, inf}, {0, 1, -inf}}), here / "i.mtx");
  EXPECT_EQ(list(read_matrix(here / "i.mtx").a), (std::vector<entry>{{0, 0, inf}, {0, 1, -inf}}));
}

TEST(write_matrix, failures_are_one_sentence_and_leave_nothing) {
  const folder here;
  const coo<double> a = random_matrix(3000, 300, 40, 2);
  EXPECT_TRUE(refusal([&] {
                write_matrix(a, here / "no/such/a.mtx");
              }).ends_with("cannot be written: its folder does not exist"));
  EXPECT_TRUE(refusal([&] { write_matrix(a, here.path); }).ends_with("is a directory, not a file"));
  EXPECT_NE(refusal([&] { write_matrix(a, "/dev/full"); }).find("/dev/full: cannot be written: No space left"),
            std::string::npos);
  put_file(here / "old.mtx", "old");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{}, small{};
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit, small.rlim_cur = 10000;
  setrlimit(RLIMIT_FSIZE, &small);
  refusal([&] { write_matrix(a, here / "old.mtx"); });
  refusal([&] { write_cache({random_matrix(3000, 300, 40, 2), {}, "a", ""}, here / "old.mtx"); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(bytes_of(here / "old.mtx"), "old");
  EXPECT_EQ(here.files(), 1u);
}

TEST(write_matrix, names_that_promise_something_else_are_refused) {
  const folder here;
  const coo<double> a = random_matrix(5, 5, 4, 2);
  for (const char* name : {"a.npy", "a.petsc", "A.FURROW"})
    kit::expect_refusal(fault::usage, "this writes Matrix Market", [&] { write_matrix(a, here / name); });
  EXPECT_EQ(refusal([&] { write_matrix(a, ""); }), "the name of the file to write is empty");
  EXPECT_EQ(refusal([&] { read_matrix(""); }), "the name of the file to read is empty");
  EXPECT_EQ(here.files(), 0u);
}

TEST(source, is_the_same_where_it_was_moved_from) {
  const folder here;
  write_matrix(random_matrix(5, 5, 4, 2), here / "a.mtx");
  source from(here / "a.mtx");
  const source to = std::move(from);
  EXPECT_EQ(read_matrix(from).a.shape, read_matrix(to).a.shape);
}

TEST(write_vector, the_same_bits_come_back) {
  const folder here;
  dice d{6};
  host_array<double> x(100000);
  for (double& v : x) {
    v = std::bit_cast<double>(d.next());
    if (!(v - v == 0)) v = 0.1;
  }
  for (const char* name : {"x.mtx", "x.mtx.gz", "x.txt", "x.csv", "x.txt.gz", "x", "X.NPY", "X.CSV.GZ"}) {
    write_vector(as_cview(x), here / name);
    const host_array<double> y = read_vector(here / name);
    ASSERT_EQ(y.size(), x.size());
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.byte_count()), 0);
  }
}

TEST(write_vector, of_no_elements_is_a_file_of_its_format) {
  const folder here;
  for (const char* name : {"x.mtx", "x.mtx.gz", "x.npy", "x.petsc", "x.txt.gz", "x.csv.gz"}) {
    write_vector({}, here / name);
    EXPECT_TRUE(read_vector(here / name).empty()) << name;
  }
  for (const char* name : {"x.txt", "x.csv"}) {
    write_vector({}, here / name);
    EXPECT_EQ(bytes_of(here / name), "") << name;
  }
}

TEST(write_vector, endings_count_in_any_case) {
  const folder here;
  const host_array<double> x(3, 0.5);
  for (const auto& [lower, upper] : {std::pair{"x.npy", "X.NPY"}, {"x.txt", "X.Txt"}, {"x.mtx.gz", "X.MTX.GZ"}}) {
    write_vector(as_cview(x), here / lower);
    write_vector(as_cview(x), here / upper);
    EXPECT_EQ(bytes_of(here / lower), bytes_of(here / upper));
  }
  EXPECT_THROW(write_vector(as_cview(x), here / "x.TAR"), error);
}

TEST(write_vector, in_the_format_of_numpy_the_numbers_follow_a_head) {
  const folder here;
  for (const index_t n : {index_t(0), index_t(1), index_t(1000)}) {
    const host_array<double> x(n, -0.1);
    write_vector(as_cview(x), here / "x.npy");
    const std::string text = bytes_of(here / "x.npy");
    const std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(n) + ",), }";
    ASSERT_TRUE(text.starts_with("\x93NUMPY\x01"));
    EXPECT_EQ(text.substr(10, head.size()), head);
    const std::size_t length = 10 + static_cast<unsigned char>(text[8]) + 256u * static_cast<unsigned char>(text[9]);
    EXPECT_EQ(length % 64, 0u);
    EXPECT_EQ(text[length - 1], '\n');
    ASSERT_EQ(text.size(), length + x.byte_count());
    if (n > 0) {
      EXPECT_EQ(std::memcmp(text.data() + length, x.data(), x.byte_count()), 0);
    }
  }
}

TEST(cache, round_trip) {
  const folder here;
  for (const bool with_b : {false, true}) {
    problem p{random_matrix(5000, 900, 60, 3), {}, "name", "where it came from"};
    if (with_b) {
      p.b = host_array<double>(5000, 0.5);
      (*p.b)[17] = std::numeric_limits<double>::quiet_NaN();
    }
    write_cache(p, here / "a.furrow");
    for (const int n : {1, 4}) {
      set_threads(n);
      const problem q = read_matrix(here / "a.furrow");
      EXPECT_EQ(q.a.shape, p.a.shape);
      EXPECT_EQ(list(q.a), list(p.a));
      EXPECT_EQ(q.name, p.name);
      EXPECT_EQ(q.origin, p.origin);
      ASSERT_EQ(q.b.has_value(), with_b);
      if (with_b) {
        EXPECT_EQ(std::memcmp(q.b->data(), p.b->data(), p.b->byte_count()), 0);
      }
    }
    set_threads(0);
    EXPECT_EQ(read_header(here / "a.furrow").stored, p.a.nnz());
  }
  for (const shape2 shape : {shape2{0, 0}, shape2{3, 0}}) {
    write_cache({make(shape, {}), {}, "", ""}, here / "e.furrow");
    EXPECT_EQ(read_matrix(here / "e.furrow").a.shape, shape);
  }
}

TEST(cache, no_damage_goes_unseen) {
  const folder here;
  const problem p{random_matrix(60, 40, 10, 4), host_array<double>(60, 1.5), "name", "origin"};
  write_cache(p, here / "a.furrow");
  const std::string good = bytes_of(here / "a.furrow");
  dice d{5};
  int harmless = 0;
  for (int k = 0; k < 1500; ++k) {
    std::string bad = good;
    // Inside the header or a section, or anywhere.
    const std::size_t at = d.below(3) == 0 ? d.below(200) : d.below(bad.size());
    switch (d.below(4)) {
    case 0:
      bad.resize(at);
      break;
    case 1:
      bad += 'x';
      break;
    default:
      bad[at] ^= static_cast<char>(1 << d.below(8));
    }
    put_file(here / "b.furrow", bad);
    try {
      const problem q = read_matrix(here / "b.furrow");
      ASSERT_EQ(list(q.a), list(p.a)) << k; // only the zeros between the sections may change
      ASSERT_EQ(q.name, p.name);
      ++harmless;
    } catch (const error& wrong) {
      ASSERT_EQ(wrong.kind, fault::input) << wrong.what();
    }
  }
  EXPECT_LT(harmless, 1200);
}

/// The bytes of a cache with other indices of entry 0, and with checksums that agree with them.
std::string forged(std::string bytes, std::int32_t row, std::int32_t col) {
  io::cache_header h;
  std::memcpy(&h, bytes.data(), sizeof h);
  for (const auto& [section, index] : {std::pair{&h.section[1], row}, std::pair{&h.section[2], col}}) {
    std::memcpy(bytes.data() + section->offset, &index, sizeof index);
    const std::uint64_t piece = io::checksum(bytes.data() + section->offset, section->bytes);
    section->sum = io::checksum(&piece, sizeof piece);
  }
  h.sum = io::checksum(&h, offsetof(io::cache_header, sum));
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}

TEST(cache, entries_are_not_trusted) {
  const folder here;
  write_cache({make({3, 3}, {{0, 1, 1}, {1, 1, 1}, {2, 0, 1}}), {}, "", ""}, here / "a.furrow");
  const std::string good = bytes_of(here / "a.furrow");
  const auto said = [&](std::int32_t row, std::int32_t col) {
    put_file(here / "b.furrow", forged(good, row, col));
    return refusal([&] { read_matrix(here / "b.furrow"); });
  };
  put_file(here / "b.furrow", forged(good, 0, 2));
  EXPECT_EQ(list(read_matrix(here / "b.furrow").a).front(), (entry{0, 2, 1}));
  const std::string place = (here / "b.furrow").string() + ": the cache is damaged: triplet";
  EXPECT_EQ(said(0, 5), place + " 0 is (0, 5) in a matrix of 3 x 3: indices count from 0");
  EXPECT_EQ(said(-1, 0), place + " 0 is (-1, 0) in a matrix of 3 x 3: indices count from 0");
  EXPECT_EQ(said(1, 1).find(place + "s 0 and 1 are both (1, 1)"), 0u) << said(1, 1);
  EXPECT_EQ(said(2, 2).find(place + " 1 is (1, 1) and comes after (2, 2)"), 0u) << said(2, 2);
}

TEST(cache, a_right_hand_side_of_another_length_is_not_written) {
  const folder here;
  EXPECT_EQ(kit::said_by(fault::usage,
                         [&] {
                           write_cache({make({3, 3}, {}), host_array<double>(2, 1.0), "", ""}, here / "a.furrow");
                         }),
            "the right-hand side has 2 elements for a matrix of 3 rows");
  EXPECT_EQ(here.files(), 0u);
}

TEST(checksum, is_that_of_files_that_are_there) {
  std::string data;
  for (char c = 0; c < 100; ++c) data += c;
  EXPECT_EQ(io::checksum(data.data(), 0), 0x26F599CF974AF5CFu);
  EXPECT_EQ(io::checksum(data.data(), 64), 0xF9F92726F5299671u);
  EXPECT_EQ(io::checksum(data.data(), 100), 0x4A1603E8D3E9BA59u);
}

TEST(checksum, of_words_is_the_same_in_any_parts) {
  std::vector<std::uint64_t> words(100);
  dice d{5};
  for (std::uint64_t& w : words) w = d.next();
  for (std::uint64_t n = 0; n <= 100; ++n)
    for (std::uint64_t first = 0; first <= n; ++first) {
      io::checksum_of_words sum;
      sum.add(words.data(), first);
      sum.add(words.data() + first, n - first);
      ASSERT_EQ(sum.sum(), io::checksum(words.data(), 8 * n)) << first << " of " << n;
    }
}

TEST(checksum, every_single_change_shows) {
  dice d{8};
  std::string data(1000, '\0');
  for (char& c : data) c = static_cast<char>(d.next());
  const std::uint64_t right = io::checksum(data.data(), data.size());
  for (std::size_t k = 0; k < data.size(); ++k)
    for (int bit = 0; bit < 8; ++bit) {
      data[k] ^= static_cast<char>(1 << bit);
      EXPECT_NE(io::checksum(data.data(), data.size()), right);
      data[k] ^= static_cast<char>(1 << bit);
    }
  EXPECT_NE(io::checksum(data.data(), 999), io::checksum(data.data(), 1000));
  EXPECT_NE(io::checksum("\0\0", 1), io::checksum("\0\0", 2));
}
