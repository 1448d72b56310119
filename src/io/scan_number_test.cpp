// SPDX-License-Identifier: BSD-3-Clause
#include "fast_line.hpp"
#include "io_test_kit.hpp"
#include "scan_number.hpp"

#include "kit/sanitized.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace furrow;
using namespace furrow::io;
using furrow::io_test::dice;

namespace {

/// `text` where the scanners can read it: something before, a line end and 64 bytes behind.
struct scannable {
  std::string bytes;
  explicit scannable(const std::string& text) : bytes(std::string(32, ' ') + text + "\n" + std::string(64, '7')) {}
  const char* begin() const { return bytes.data() + 32; }
};

std::string digits(dice& d, std::size_t n) {
  std::string s;
  for (; n > 0; --n) s += static_cast<char>('0' + d.below(10));
  return s;
}

std::string random_number(dice& d) {
  std::string s = d.below(2) ? "-" : d.below(8) ? "" : "+";
  switch (d.below(6)) {
  case 0: { // the digits of a random double
    char text[64];
    const double v = std::bit_cast<double>(d.next());
    if (!std::isfinite(v)) return "1";
    std::snprintf(text, sizeof text, "%.*g", static_cast<int>(1 + d.below(20)), v);
    return text;
  }
  case 1: { // halfway between two doubles, exactly
    char text[1200];
    double v = std::bit_cast<double>((d.next() & 0x000FFFFFFFFFFFFFu) | (1023 - 60 + d.below(120)) << 52);
    const long double half = (static_cast<long double>(v) + static_cast<long double>(std::nextafter(v, 1e300))) / 2;
    std::snprintf(text, sizeof text, "%.*Lg", static_cast<int>(17 + d.below(60)), half);
    return text;
  }
  case 2:
    return s + digits(d, 1 + d.below(25));
  case 3:
    return s + std::string(d.below(25), '0') + digits(d, d.below(8)) + "." + std::string(d.below(25), '0') +
           digits(d, 1 + d.below(20));
  case 4:
    return s + digits(d, 1 + d.below(4)) + "." + digits(d, d.below(20)) + "e" + (d.below(2) ? "-" : "") +
           digits(d, 1 + d.below(3));
  default:
    return s + digits(d, 1 + d.below(20)) + (d.below(2) ? "E+" : "d-") + std::to_string(d.below(330));
  }
}

std::uint64_t bits(double v) { return std::bit_cast<std::uint64_t>(v); }

} // namespace

TEST(scan_number, powers_of_five_are_the_published_ones) {
  const power_table& t = powers_of_five();
  const auto is = [&](int q, std::uint64_t high, std::uint64_t low) {
    EXPECT_EQ(t[static_cast<std::size_t>(q - smallest_power)].high, high) << q;
    EXPECT_EQ(t[static_cast<std::size_t>(q - smallest_power)].low, low) << q;
  };
  is(-342, 0xeef453d6923bd65a, 0x113faa2906a13b3f);
  is(-28, 0xfd87b5f28300ca0d, 0x8bca9d6e188853fc); // rounded down
  is(-27, 0x9e74d1b791e07e48, 0x775ea264cf55347e); // and up
  is(-1, 0xcccccccccccccccc, 0xcccccccccccccccd);
  is(0, 0x8000000000000000, 0);
  is(1, 0xa000000000000000, 0);
  is(27, 0xcecb8f27f4200f3a, 0);
  is(200, 0xa738c6bebb12d16c, 0xb428f8ac016561db);
  is(308, 0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648);
}

TEST(scan_number, reals_are_rounded_as_strtod_rounds_them) {
  dice d{1};
  for (int k = 0; k < kit::repeats(1500000, 300000); ++k) {
    std::string text = random_number(d);
    std::string plain = text;
    for (char& c : plain)
      if (c == 'd') c = 'e';
    const double wanted = std::strtod(plain.c_str(), nullptr);
    const scannable s(text);
    double got = 0;
    const char* const end = scan_real(s.begin(), got, powers_of_five());
    if (std::isinf(wanted)) {
      ASSERT_EQ(end, nullptr) << text;
      continue;
    }
    ASSERT_EQ(end, s.begin() + text.size()) << text;
    ASSERT_EQ(bits(got), bits(wanted)) << text;
    ASSERT_EQ(read_real(text, got), number::good) << text;
    ASSERT_EQ(bits(got), bits(wanted)) << text;
    const std::string line = "12345678 1 " + text;
    const scannable whole(line);
    fast_line fast;
    if (const char* const next = scan_line<true>(whole.begin(), fast, powers_of_five())) {
      ASSERT_EQ(next, whole.begin() + line.size() + 1) << line;
      ASSERT_EQ(fast.row, 12345678u);
      ASSERT_EQ(fast.col, 1u);
      ASSERT_EQ(bits(fast.value), bits(wanted)) << line;
    }
  }
}

TEST(scan_number, bits_come_back_from_the_shortest_digits) {
  dice d{2};
  for (int k = 0; k < 300000; ++k) {
    const double v = std::bit_cast<double>(k % 4 ? d.next() : d.next() & 0x800FFFFFFFFFFFFFu); // denormals too
    if (!std::isfinite(v)) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", v);
    const scannable s(text);
    double got = 0;
    ASSERT_NE(scan_real(s.begin(), got, powers_of_five()), nullptr) << text;
    ASSERT_EQ(bits(got), bits(v)) << text;
  }
}

TEST(scan_number, what_is_no_number_is_refused) {
  double v = 0;
  for (const char* text : {"",      "-",     "+",       ".",     "-.",    "e5",  "1e",
                           "1e+",   "--1",   "+-1",     "1.2.3", "0x1p3", "1,5", "1_000",
                           "nanx",  "in",    "infinit", "1e5.5", "1f",    "abc", "1e9999999999999999999",
                           "1e309", "-1e400"}) {
    const scannable s(text);
    EXPECT_EQ(scan_real(s.begin(), v, powers_of_five()), nullptr) << text;
    EXPECT_NE(read_real(text, v), number::good) << text;
  }
  EXPECT_EQ(read_real("1e309", v), number::too_large);
  for (const char* text : {"1e-9999999999999999999", "0e99999999999", "-0.0", "0.000e5"}) {
    EXPECT_EQ(read_real(text, v), number::good) << text;
    EXPECT_EQ(v, 0) << text;
  }
  EXPECT_EQ(read_real("-InFinity", v), number::good);
  EXPECT_EQ(v, -HUGE_VAL);
}

TEST(scan_number, indices_never_wrap) {
  for (const auto& [text, wanted] : {std::pair{"1", 1ull},
                                     {"12345678", 12345678ull},
                                     {"123456789", 123456789ull},
                                     {"0000000000000000000000017", 17ull},
                                     {"18446744073709551615", ~0ull},
                                     {"18446744073709551617", ~0ull},
                                     {"4294967297", 4294967297ull},
                                     {"99999999999999999999999999999", ~0ull},
                                     {"+5", 5ull}}) {
    const scannable s(text);
    const char* p = s.begin();
    std::uint64_t got = 0;
    ASSERT_TRUE(scan_index(p, got)) << text;
    EXPECT_EQ(got, wanted) << text;
    EXPECT_EQ(p, s.begin() + std::strlen(text));
  }
}

TEST(scan_number, fast_lines_are_those_of_the_plain_form_only) {
  for (const char* text :
       {"1 1", "1  1 2", " 1 1 2", "1 1 2 ", "1\t1 2", "123456789 1 2", "1 1 .", "1 1 -", "1 1 +2", "1 1 1e", "1 1 1e+",
        "1 1 2x", "1 1 1e1234", "1 1 12345678.5", "-1 1 1", "1 1 1.2.3", "1 1 1d5", "1 1\r2", "1 1 1\r\r"}) {
    const scannable s(text);
    fast_line line;
    EXPECT_EQ(scan_line<true>(s.begin(), line, powers_of_five()), nullptr) << text;
  }
  for (const char* text : {"1 2 3", "1 2 3.", "1 2 -.5", "1 2 1e5", "1 2 -1.5E-3", "1 2 2.5\r", "1 2 0"}) {
    const scannable s(text);
    fast_line line;
    EXPECT_NE(scan_line<true>(s.begin(), line, powers_of_five()), nullptr) << text;
    EXPECT_EQ(line.value, std::strtod(text + 4, nullptr));
  }
}
