// SPDX-License-Identifier: BSD-3-Clause
#include "core/page_cache.hpp"
#include "entries.hpp"
#include "io_test_kit.hpp"

#include "kit/sanitized.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <fstream>

using namespace furrow;
using namespace furrow::io_test;

namespace {

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

problem read_text(const std::string& text) {
  const folder here;
  put_file(here / "a.mtx", text);
  return read_matrix(here / "a.mtx");
}
std::string refused(const std::string& text) {
  const folder here;
  put_file(here / "a.mtx", text);
  const std::string prefix = here.path.string() + "/";
  const std::string what = refusal([&] { read_matrix(here / "a.mtx"); });
  EXPECT_TRUE(what.starts_with(prefix)) << what;
  return what.substr(std::min(prefix.size(), what.size()));
}

struct thread_guard {
  explicit thread_guard(int n) { set_threads(n); }
  ~thread_guard() { set_threads(0); }
};

/// A text of several pieces, with duplicates and no order.
std::string large_text(index_t rows, int entries, std::uint64_t seed, bool mirrored) {
  dice d{seed};
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real {}\n{} {} {}\n",
                                 mirrored ? "symmetric" : "general", rows, rows, entries);
  for (int k = 0; k < entries; ++k) {
    auto i = static_cast<index_t>(d.below(static_cast<std::size_t>(rows))),
         j = static_cast<index_t>(d.below(static_cast<std::size_t>(rows)));
    if (d.below(3) == 0) i = rows / 2; // one long row
    if (mirrored && i < j) std::swap(i, j);
    text += fmt::format("{} {} {}\n", i + 1, j + 1,
                        static_cast<double>(static_cast<std::int64_t>(d.next() >> 20)) * 1e-7 - 1000);
  }
  return text;
}

double status_bytes(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":")) return std::strtod(line.c_str() + key.size() + 1, nullptr) * 1024;
  return 0;
}

} // namespace

TEST(read_matrix, every_refusal_says_file_line_and_what) {
  EXPECT_EQ(refused(general + "2 2 2\n1 1 1\n0 1 2\n"), "a.mtx:4: the row index '0' is outside 1 to 2");
  EXPECT_EQ(refused(general + "2 2 1\n1 -3 1\n"), "a.mtx:3: the column index '-3' is outside 1 to 2");
  EXPECT_EQ(refused(general + "2 2 1\n18446744073709551617 1 1\n"),
            "a.mtx:3: the row index '18446744073709551617' is outside 1 to 2");
  EXPECT_EQ(refused(general + "2 2 1\n1 1 2,5\n"), "a.mtx:3: the value '2,5' is no number");
  EXPECT_EQ(refused(general + "2 2 1\n1 1 1e999\n"), "a.mtx:3: the value '1e999' is too large for 64 bits");
  EXPECT_EQ(refused(general + "2 2 1\n1 1\n\n"),
            "a.mtx:3: an entry is a line of three numbers: row column value; this one has 2 words");
  EXPECT_EQ(refused(general + "2 2 2\n1 1 5.25e+000\n\n"),
            "a.mtx:4: the file ends after 1 of the 2 entries that its size line promises");
  EXPECT_EQ(refused(general + "2 2 1\n1 1 5\n\n2 2 6\n"),
            "a.mtx:5: more entries than the 1 that the size line promises");
  EXPECT_EQ(refused(general + "2 2 1\n% no\n1 1 5\n"),
            "a.mtx:3: a comment between the entries: comments belong before the size line");
  EXPECT_EQ(refused(general + "3 3 1000000000000\n1 1 1\n"),
            "a.mtx:2: the size line promises 1000000000000 entries, for which the rest of the file is too short");
  EXPECT_EQ(refused(general + "2 2 1\n"),
            "a.mtx:2: the size line promises 1 entry, for which the rest of the file is too short");
  EXPECT_EQ(refused(general + "2 2 1\n      \n"),
            "a.mtx:3: the file ends after 0 of the 1 entry that its size line promises");
  EXPECT_EQ(refused(general + "% only this\n"), "a.mtx:2: the file ends before its size line");
  EXPECT_EQ(refused(general + "4294967296 1 1\n1 1 1\n"),
            "a.mtx:2: '4294967296' rows: more than the 2147483647 that are supported");
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"),
            "a.mtx:1: complex matrices are not supported yet");
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n"),
            "a.mtx:1: hermitian matrices are not supported yet (where all values are real, say 'symmetric')");
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n"),
            "a.mtx:4: the file has entries below and above the diagonal, but says that it is symmetric: one triangle "
            "must be left out");
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 2 1\n"),
            "a.mtx:2: a symmetric matrix must be square, not 2 x 3");
  EXPECT_EQ(refused("3 3\n1 2\n"),
            "a.mtx:1: no Matrix Market file, which begins with '%%MatrixMarket matrix': it looks like bare numbers or "
            "triplets without the banner");
  EXPECT_EQ(refused(""), "a.mtx: the file is empty");
  const folder here;
  EXPECT_TRUE(refusal([&] { read_matrix(here.path); }).ends_with(": is a directory, not a file"));
  EXPECT_TRUE(refusal([&] { read_matrix(here / "nothing.mtx"); }).ends_with("nothing.mtx: there is no such file"));
  EXPECT_EQ(here.files(), 0u);
}

TEST(read_matrix, the_error_of_a_long_file_is_found_where_it_is) {
  std::string text = large_text(1000, 60000, 3, false);
  const std::size_t at = text.find('\n', text.size() / 2) + 1;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  text.insert(at, "1 2 x\n");
  EXPECT_EQ(refused(text), fmt::format("a.mtx:{}: the value 'x' is no number", line));
  const folder here;
  put_file(here / "a.mtx.gz", gzip(text));
  EXPECT_TRUE(refusal([&] {
                read_matrix(here / "a.mtx.gz");
              }).ends_with(fmt::format("a.mtx.gz:{}: the value 'x' is no number", line)));
}

TEST(read_matrix, duplicates_are_summed_in_their_order_and_zeros_kept) {
  const problem p = read_text(general + "2 2 6\n2 2 1e16\n1 1 0\n2 2 1\n2 2 -1e16\n1 2 -0\n2 1 3\n");
  EXPECT_EQ(list(p.a), (std::vector<entry>{{0, 0, 0.0}, {0, 1, -0.0}, {1, 0, 3}, {1, 1, (1e16 + 1) - 1e16}}));
  EXPECT_EQ(p.name, "a");
  EXPECT_EQ(p.origin, "Matrix Market coordinate real general, 6 stored entries");
}

TEST(read_matrix, mirrored_files_are_expanded) {
  const std::vector<entry> both{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}};
  EXPECT_EQ(list(read_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 2\n").a), both);
  EXPECT_EQ(list(read_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 2\n1 1 1\n").a), both);
  EXPECT_EQ(list(read_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n").a),
            (std::vector<entry>{{0, 1, -2}, {1, 0, 2}}));
  EXPECT_EQ(list(read_text("%%MatrixMarket matrix array real skew-symmetric\n2 2\n2\n").a),
            (std::vector<entry>{{0, 0, 0}, {0, 1, -2}, {1, 0, 2}, {1, 1, 0}}));
  EXPECT_EQ(list(read_text("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n").a),
            (std::vector<entry>{{0, 0, 1}, {0, 1, 3}, {0, 2, 5}, {1, 0, 2}, {1, 1, 4}, {1, 2, 6}}));
}

TEST(read_matrix, huge_shapes_need_no_memory_for_empty_rows) {
  const problem p = read_text(general + "2147483647 2147483647 3\n2147483647 1 1\n5 2147483647 2\n2147483647 1 3\n");
  EXPECT_EQ(list(p.a), (std::vector<entry>{{4, 2147483646, 2}, {2147483646, 0, 4}}));
}

TEST(read_matrix, the_threads_change_nothing) {
  for (const bool mirrored : {false, true}) {
    const std::string text = large_text(2000, 100000, 5 + mirrored, mirrored);
    const auto wanted = read_plainly(text);
    ASSERT_TRUE(wanted);
    const folder here;
    put_file(here / "a.mtx", text);
    put_file(here / "b.mtx.gz", gzip(text));
    for (const int n : {1, 2, 3, 7}) {
      const thread_guard guard(n);
      EXPECT_EQ(list(read_matrix(here / "a.mtx").a), wanted->entries) << n << " threads";
      EXPECT_EQ(list(read_matrix(here / "b.mtx.gz").a), wanted->entries) << n << " threads";
    }
  }
}

TEST(read_matrix, long_arrays_cross_pieces) {
  for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
    const int n = 400;
    std::string text = fmt::format("%%MatrixMarket matrix array real {}\n{} {}\n", symmetry, n, n);
    const int stored = symmetry[0] == 'g' ? n * n : symmetry[1] == 'y' ? n * (n + 1) / 2 : n * (n - 1) / 2;
    dice d{9};
    for (int k = 0; k < stored; ++k) text += fmt::format("{}\n", static_cast<double>(d.below(1000000)) / 1024);
    const auto wanted = read_plainly(text);
    ASSERT_TRUE(wanted);
    EXPECT_EQ(list(read_text(text).a), wanted->entries) << symmetry;
  }
}

TEST(read_matrix, memory_is_what_the_estimate_says) {
  if (kit::sanitized()) GTEST_SKIP() << "sanitizers take memory of their own";
  const folder here;
  const index_t rows = 100000, entries = 2000000;
  std::string text = general + fmt::format("{} {} {}\n", rows, rows, entries);
  text.reserve(40000000);
  dice d{11};
  for (index_t k = 0; k < entries; ++k)
    text += fmt::format("{} {} {}\n", k % rows + 1, d.below(rows) + 1, d.below(1000));
  put_file(here / "a.mtx", text);
  text = {};
  large_blocks().trim();
  std::ofstream("/proc/self/clear_refs") << "5"; // forgets the peak so far
  const double before = status_bytes("VmRSS");
  if (before == 0 || status_bytes("VmHWM") > 1.05 * before + 4e6)
    GTEST_SKIP() << "the peak of the memory cannot be measured here";
  const double wanted = estimate_read_memory(read_header(here / "a.mtx"));
  const problem p = read_matrix(here / "a.mtx");
  const double peak = status_bytes("VmHWM") - before;
  EXPECT_LT(peak, 1.1 * wanted + 4e6);
  EXPECT_GT(peak, 0.85 * wanted - 4e6);
  EXPECT_LT(peak, 2.5 * (12.0 * entries + 4.0 * rows));
}

TEST(read_matrix, headers_alone) {
  const folder here;
  put_file(here / "a.mtx",
           "%%MatrixMarket matrix coordinate pattern symmetric\n%" + std::string(200000, 'x') + "\n5 5 2\n1 1\n2 1\n");
  const matrix_header h = read_header(here / "a.mtx");
  EXPECT_EQ(h.field, matrix_header::field::pattern);
  EXPECT_EQ(h.symmetry, matrix_header::symmetry::symmetric);
  EXPECT_EQ(h.shape, (shape2{5, 5}));
  EXPECT_EQ(h.stored, 2);
}

TEST(read_matrix, banners_that_are_taken) {
  for (const char* banner :
       {"%%MatrixMarket matrix coordinate real general", "%MatrixMarket matrix coordinate real general",
        "%% MatrixMarket matrix coordinate real general", "  %%matrixmarket\tMATRIX  Coord Double GENERAL  ",
        "\n \n%%MatrixMarket matrix coordinate real general", "\r\n%%MatrixMarket matrix coordinate real general",
        "\xEF\xBB\xBF%%\tMatrixMarket matrix coordinate unsigned-integer general\r"})
    EXPECT_EQ(list(read_text(std::string(banner) + "\n1 1 1\n1 1 7\n").a), (std::vector<entry>{{0, 0, 7}})) << banner;
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate real\n1 1 1\n1 1 7\n"),
            "a.mtx:1: the banner has 4 words instead of five: %%MatrixMarket matrix coordinate real general");
  EXPECT_EQ(refused("%%MatrixMarket vector coordinate real general\n1 1\n1 7\n"),
            "a.mtx:1: the object is a 'vector', where a 'matrix' is wanted: it can be a right-hand side");
  EXPECT_NE(refused("%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n").find("no Matrix Market file"),
            std::string::npos);
}

TEST(read_matrix, carriage_returns_as_line_ends) {
  const std::string text = general + "% old\n3 3 3\n\n1 1 4\n2 3 -5\n3 1 0.5\n";
  const auto wanted = list(read_text(text).a);
  const auto with = [&](auto end_of_line) {
    std::string out;
    for (std::size_t k = 0, line = 0; k < text.size(); ++k)
      out += text[k] == '\n' ? end_of_line(line++) : std::string(1, text[k]);
    return out;
  };
  const std::string cr = "\r", lf = "\n", both = "\r\n";
  for (const auto& changed :
       {with([&](std::size_t) { return cr; }), with([&](std::size_t) { return both; }),
        with([&](std::size_t line) { return line == 0 ? cr : both; }),
        with([&](std::size_t line) { return line < 4 ? cr : lf; }),
        with([&](std::size_t line) { return line % 2 ? both : lf; }), with([&](std::size_t) { return cr + both; })}) {
    EXPECT_EQ(list(read_text(changed).a), wanted) << changed;
    const folder here;
    put_file(here / "m.tar.gz", gzip(tar_member("m/m.mtx", changed) + tar_end));
    put_file(here / "m.mtx.gz", gzip(changed));
    EXPECT_EQ(list(read_matrix(here / "m.tar.gz").a), wanted) << changed;
    EXPECT_EQ(list(read_matrix(here / "m.mtx.gz").a), wanted) << changed;
    EXPECT_EQ(read_header(here / "m.mtx.gz").stored, 3);
  }
  // Where they are not, none is swallowed: the second line of numbers would be a value of the first.
  const std::string inside = ": a carriage return stands inside the line; where it is meant as a line end, convert the "
                             "file: tr '\\r' '\\n'";
  EXPECT_EQ(refused(general + "3 3 1\n1 1\r2\n"), "a.mtx:3" + inside);
  EXPECT_EQ(refused(general + "3 3\r1\n1 1 2\n"), "a.mtx:2" + inside);
  EXPECT_EQ(refused(general + "% old\r3 3 1\r1 1 2\r"), "a.mtx:2" + inside);
  std::string many = large_text(1000, 60000, 3, false);
  std::replace(many.begin(), many.end(), '\n', '\r');
  const std::size_t at = many.find('\r', many.size() / 2) + 1;
  const auto line = std::count(many.begin(), many.begin() + static_cast<std::ptrdiff_t>(at), '\r') + 1;
  many.insert(at, "1 2 x\r\n");
  EXPECT_EQ(refused(many), fmt::format("a.mtx:{}: the value 'x' is no number", line));
}

TEST(read_matrix, what_is_besides_the_entries_has_an_end) {
  const std::string wanted = "more than 64 MiB of blank lines, comments and long";
  std::string blank;
  while (blank.size() < std::size_t(70) << 20) blank += std::string(999, ' ') + '\n';
  const folder here;
  const auto says = [&](const std::string& bytes, const std::string& what) {
    put_file(here / "a.mtx", bytes);
    const std::string said = refusal([&] { read_matrix(here / "a.mtx"); });
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  says(general + "1 1 1\n1 1 1\n" + blank, wanted);
  says(gzip(general + "1 1 2\n1 1 1\n" + blank + "1 1 2\n"), wanted);
  says(general + "1 1 1\n1 1 1\nx\n" + blank, "a.mtx:4: ");
  says(gzip(general + blank + "1 1 1\n1 1 1\n"), "no size line in the first 64 MiB");
  std::string comments = "%%MatrixMarket matrix array real general\n1 1\n3\n";
  while (comments.size() < blank.size()) comments += "%" + std::string(1000, ' ') + "\n";
  says(comments, wanted);
  put_file(here / "b", gzip("1\n" + blank + "2\n"));
  EXPECT_NE(refusal([&] { read_vector(here / "b"); }).find(wanted), std::string::npos);
}
