// SPDX-License-Identifier: BSD-3-Clause
#include "entries.hpp"
#include "io_test_kit.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <array>

using namespace furrow;
using namespace furrow::io_test;

namespace {

const std::array<std::string, 14> seeds = {
    "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 6\n1 1 2.5\n2 2 -3\n3 4 1e-3\n1 3 0.1\n2 2 7\n3 1 "
    "-0\n",
    "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1.25e2\n4 4 "
    "4.0000000000000001\n3 3 1\n",
    "%%MatrixMarket matrix coordinate integer general\r\n2 3 3\r\n1 1 12\r\n2 3 -9007199254740993\r\n1 2 0\r\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n\n5 5 5\n1 1\n2 1\n5 3\n4 4\n3 2\n",
    "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 1.5\n3 1 -2\n3 2 1e300\n",
    "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 2\n3 3\n1 2\n2 1\n",
    "%%MatrixMarket matrix array real general\n3 2\n1\n2.5\n-3e2\n% four\n4\n\n5\n6\n",
    "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
    "%%MatrixMarket matrix array integer skew-symmetric\n4 4\n1\n2\n3\n4\n5\n6\n",
    "%%MatrixMarket  MATRIX    Coordinate    Real General\n\n   5  5         3\n\n1 1  1.0\n\n2 2       10.5\n   5 3   "
    ".5E-1  \n\t4\t4\t1.D0",
    "%%MatrixMarket matrix coordinate real general\n200000 200000 3\n199999 7 1\n200000 200000 2\n1 200000 3\n",
    "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0.1000000000000000055511151231257827\n1 2 "
    "123456789012345678901234567890\n2 1 "
    "2.2250738585072011e-308\n2 2 1.7976931348623157e308\n",
    "%MatrixMarket matrix coord real general\r% old\r3 3 3\r1 1 2.5\r\r2 2 -3\r3 3 4\r",
    "%% MatrixMarket matrix array integer symmetric\r2 2\r\n1\r% two\r2\n3",
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    out.push_back(text.substr(at, end - at + 1));
    at = end + 1;
  }
  return out;
}

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& l : lines) out += l;
  return out;
}

std::string edit_number(const std::string& text, dice& d) {
  static const std::array<std::string, 25> odd = {"0",
                                                  "-1",
                                                  "1e999",
                                                  "nan",
                                                  "inf",
                                                  "0x10",
                                                  "1.5",
                                                  "4294967297",
                                                  "18446744073709551617",
                                                  "+2",
                                                  "1e-999",
                                                  "--1",
                                                  "1,5",
                                                  "",
                                                  "1d3",
                                                  "1e",
                                                  ".",
                                                  "-",
                                                  "00000000000003",
                                                  "99999999999999999999999",
                                                  "3.",
                                                  "2147483648",
                                                  "1e+",
                                                  "-.5E+0",
                                                  "-INF"};
  std::vector<std::size_t> starts;
  for (std::size_t k = 1; k < text.size(); ++k)
    if (std::isdigit(static_cast<unsigned char>(text[k])) && std::isspace(static_cast<unsigned char>(text[k - 1])))
      starts.push_back(k);
  if (starts.empty()) return text;
  const std::size_t from = starts[d.below(starts.size())];
  std::size_t end = from;
  while (end < text.size() && !std::isspace(static_cast<unsigned char>(text[end]))) ++end;
  return text.substr(0, from) + odd[d.below(odd.size())] + text.substr(end);
}

std::string mutate(std::string text, dice& d) {
  if (text.empty()) return text;
  const auto at = [&] { return d.below(text.size()); };
  using std::operator""s;
  static const std::string likely = " \t\r\n0123456789+-.eEdD%x\0,;"s;
  switch (d.below(12)) {
  case 0:
    text[at()] ^= static_cast<char>(1 << d.below(8));
    break;
  case 1:
    text[at()] = likely[d.below(likely.size())];
    break;
  case 2:
    text.insert(at(), 1, likely[d.below(likely.size())]);
    break;
  case 3:
    text.erase(at(), 1 + d.below(3));
    break;
  case 4:
    text.resize(at());
    break;
  case 5:
    return edit_number(text, d);
  case 6:
    text.insert(at(), 1 + d.below(12), likely[d.below(likely.size())]);
    break;
  case 7:
    text[at()] = static_cast<char>(d.below(256));
    break;
  default: {
    auto lines = lines_of(text);
    const std::size_t i = d.below(lines.size()), j = d.below(lines.size());
    switch (d.below(4)) {
    case 0:
      std::swap(lines[i], lines[j]);
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(j), lines[i]);
      break;
    case 2:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    default:
      std::swap(lines[i], lines[j]), lines.insert(lines.begin(), lines[i]);
    }
    return join(lines);
  }
  }
  return text;
}

struct outcome {
  std::optional<plain_matrix> matrix;
  std::string message;
};

outcome read_really(const std::filesystem::path& file) {
  outcome out;
  try {
    const problem p = read_matrix(file);
    out.matrix = plain_matrix{p.a.shape.rows, p.a.shape.cols, list(p.a)};
  } catch (const error& wrong) {
    out.message = wrong.what();
    EXPECT_TRUE(wrong.kind == fault::input || wrong.kind == fault::memory) << wrong.what();
    EXPECT_EQ(out.message.rfind(file.string(), 0), 0u) << out.message;
  }
  return out;
}

/// Every way to scan lines that this processor has.
template <class F> void for_each_scan(F body) {
  for (const auto scan : {io::line_scan::by_number, io::line_scan::by_line, io::line_scan::by_eight}) {
    if (scan > io::fastest_scan()) continue;
    const io::scanning_at_most limit(scan);
    body(scan);
  }
}

void compare(const outcome& got, const std::optional<plain_matrix>& wanted, const std::string& text) {
  ASSERT_EQ(got.matrix.has_value(), wanted.has_value()) << got.message << "\n" << text;
  if (!wanted) return;
  ASSERT_EQ(got.matrix->rows, wanted->rows) << text;
  ASSERT_EQ(got.matrix->cols, wanted->cols) << text;
  ASSERT_EQ(got.matrix->entries, wanted->entries) << text;
}

} // namespace

TEST(mutations, ten_thousand_texts) {
  const folder here;
  dice d = dice_of_this_run(20240601);
  int accepted = 0;
  for (int k = 0; k < 10000; ++k) {
    std::string text = seeds[d.below(seeds.size())];
    for (std::size_t n = 1 + d.below(2); n > 0; --n) text = mutate(text, d);
    const auto file = here / "m.mtx";
    put_file(file, text);
    const auto wanted = read_plainly(text);
    accepted += wanted.has_value();
    const outcome got = read_really(file);
    ASSERT_NO_FATAL_FAILURE(compare(got, wanted, text)) << "mutation " << k;
    if (k % 8 == 0) { // the same text as a stream
      put_file(here / "m.gz", gzip(text));
      const outcome zipped = read_really(here / "m.gz");
      ASSERT_NO_FATAL_FAILURE(compare(zipped, wanted, text)) << "mutation " << k;
    }
  }
  EXPECT_GT(accepted, 500);
  EXPECT_LT(accepted, 9000);
}

namespace {

/// A file of some hundred lines, long enough for the reader that takes eight lines at a time: mostly numbers as
/// programs print them, and here and there something that must be read one by one.
std::string long_text(dice& d) {
  static const std::array<const char*, 4> kinds = {"real general", "real symmetric", "pattern general",
                                                   "integer general"};
  const std::size_t kind = d.below(kinds.size()), rows = d.below(2) ? 60 : 12345678, lines = 300 + d.below(300);
  static const std::array<const char*, 12> odd = {
      "1e5", "+2", ".", "-.5", "1.e2", "2d3", "7.5E-300", "-0.0", "1e-400", "nan", "00.25", "12345678901234567890123",
  };
  const bool few_odd = d.below(2) != 0;
  std::string text = std::string("%%MatrixMarket matrix coordinate ") + kinds[kind] + "\n" +
                     fmt::format("{} {} {}\n", rows, rows, lines);
  for (std::size_t k = 0; k < lines; ++k) {
    std::size_t i = 1 + d.below(rows), j = 1 + d.below(rows);
    if (kind == 1 && i < j) std::swap(i, j);
    text += fmt::format("{} {}", i, j);
    const double v = (static_cast<double>(d.below(2000001)) - 1e6) / 1024;
    if (kind == 2) text += "\n";
    else if (few_odd && d.below(60) == 0) text += fmt::format(" {}\n", odd[d.below(odd.size())]);
    else switch (kind == 3 ? 0 : d.below(8)) {
      case 0:
        text += fmt::format(" {}\n", d.below(100000));
        break;
      case 1:
        text += fmt::format(" {:.16e}\n", v * 1e-5);
        break;
      case 2:
        text += fmt::format(" {:.17g}\n", v / 3);
        break;
      case 3:
        text += fmt::format(" {:.18f}\n", v / 1e6);
        break;
      case 4:
        text += fmt::format(" {:.6E}\n", v * 1e20);
        break;
      default:
        text += fmt::format(" {:.10g}\n", v);
      }
  }
  return text;
}

} // namespace

TEST(mutations, long_texts) {
  const folder here;
  dice d = dice_of_this_run(8);
  int accepted = 0;
  for (int k = 0; k < 400; ++k) {
    std::string text = long_text(d);
    for (std::size_t n = d.below(3); n > 0; --n) text = mutate(text, d);
    put_file(here / "m.mtx", text);
    const auto wanted = read_plainly(text);
    accepted += wanted.has_value();
    for_each_scan([&](io::line_scan scan) {
      ASSERT_NO_FATAL_FAILURE(compare(read_really(here / "m.mtx"), wanted, text))
          << "mutation " << k << ", scan " << int(scan);
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 350);
}

namespace {

/// What becomes of one line among usual ones, in a text long enough for the reader that takes eight lines at a time.
struct line_in_a_text {
  matrix_header head;
  std::string banner, usual;

  /// The entries of `line`, and those before and behind it must be the usual ones; empty where the text is refused.
  std::optional<std::vector<entry>> read(const std::string& line, int before) const {
    std::string text;
    for (int k = 0; k < before; ++k) text += usual;
    text += line + "\n";
    const int behind = 4300 / static_cast<int>(usual.size());
    for (int k = 0; k < behind; ++k) text += usual;
    const std::size_t size = text.size();
    text.append(64, '7');
    io::scratch room;
    room.reserve(head, false, static_cast<index_t>(size));
    index_t count = 0;
    if (!io::parse_lines(head, false, text.data(), text.data() + size, room, count)) return {};
    std::vector<entry> out;
    for (index_t k = 0; k < count; ++k)
      out.push_back({room.row[k], room.col[k], head.field == matrix_header::field::pattern ? 1 : room.val[k]});
    EXPECT_GE(count, before + behind);
    const auto same = [&](const entry& e) { return e == out[0]; };
    EXPECT_TRUE(before == 0 || std::all_of(out.begin(), out.begin() + before, same)) << line;
    EXPECT_TRUE(std::all_of(out.end() - behind, out.end(), [&](const entry& e) { return e == out.back(); })) << line;
    return std::vector<entry>(out.begin() + before, out.end() - behind);
  }

  std::optional<std::vector<entry>> read_plainly(const std::string& line) const {
    for (const char* count : {" 1\n", " 0\n"}) // entries, if the line is not blank
      if (const auto m = io_test::read_plainly(banner + std::to_string(head.shape.rows) + " " +
                                               std::to_string(head.shape.cols) + count + line + "\n"))
        return m->entries;
    return {};
  }
};

} // namespace

TEST(mutations, every_byte_at_every_place_of_a_line) {
  using field = enum matrix_header::field;
  const struct {
    field kind;
    const char *name, *line;
  } kinds[] = {{field::real, "real", "4711 12 -3.25e-17"},
               {field::real, "real", "7 12345678 0.5E+3"},
               {field::integer, "integer", "4711 12 -907"},
               {field::pattern, "pattern", "4711 12"},
               {field::pattern, "pattern", "1 12345678"}};
  for (const auto& kind : kinds) {
    line_in_a_text in;
    in.head.field = kind.kind, in.head.shape = {99999999, 99999999};
    in.banner = std::string("%%MatrixMarket matrix coordinate ") + kind.name + " general\n";
    in.usual = kind.kind == field::pattern ? "12345678 87654321\n" : "12345678 1234567 -1234567.890625e-12\n";
    const std::string line = kind.line;
    for (std::size_t at = 0; at <= line.size(); ++at)
      for (int byte = 0; byte < 256; ++byte)
        for (const bool insert : {true, false}) {
          std::string changed = line;
          if (insert) changed.insert(at, 1, static_cast<char>(byte));
          else if (at < line.size()) changed[at] = static_cast<char>(byte);
          const auto wanted = byte == '\n' ? std::nullopt : in.read_plainly(changed);
          std::optional<std::vector<entry>> first;
          for_each_scan([&](io::line_scan scan) {
            const auto got = in.read(changed, static_cast<int>(at % 11));
            if (scan == io::line_scan::by_number) first = got;
            if (byte != '\n') {
              ASSERT_EQ(got, wanted) << changed << ", byte " << byte << ", scan " << int(scan);
            }
            ASSERT_EQ(got, first) << changed << ", byte " << byte << ", scan " << int(scan);
          });
          if (HasFatalFailure()) return;
        }
  }
}

TEST(mutations, vectors) {
  static const std::array<std::string, 9> vectors = {
      "1\n2.5\n-3\n",
      "\xEF\xBB\xBF% note\n1e3\n\n -.5 \n+7",
      "1\r2\r% three\r3\r",
      "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n",
      "%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 7\n2 1 -0\n",
      "%%MatrixMarket vector coordinate real general\n3 4\n1 2\n3 8\n3 0.5\n2 -0\n",
      "%%MatrixMarket vector coordinate integer\n% note\n3\n2 5\n1 7",
      "%MatrixMarket vector array double general\r\n3\r\n4\r\n5\r\n6\r\n",
      "%% MatrixMarket vector coordinate pattern general\n3 2\n1\n\n3\n",
  };
  const folder here;
  dice d = dice_of_this_run(31);
  int accepted = 0;
  for (int k = 0; k < 10000; ++k) {
    std::string text = vectors[d.below(vectors.size())];
    for (std::size_t n = d.below(3); n > 0; --n) text = mutate(text, d);
    put_file(here / "v", text);
    auto wanted = read_vector_plainly(text);
    if (wanted && wanted->size() != 3) wanted.reset();
    std::optional<std::vector<double>> got;
    std::string message;
    try {
      const host_array<double> x = read_vector(here / "v", 3);
      got.emplace(x.begin(), x.end());
    } catch (const error& wrong) {
      message = wrong.what();
      ASSERT_EQ(wrong.kind, fault::input) << message << "\n" << text;
    }
    ASSERT_EQ(got.has_value(), wanted.has_value()) << message << "\n" << text;
    for (std::size_t i = 0; got && i < 3; ++i)
      ASSERT_EQ(std::bit_cast<std::uint64_t>((*got)[i]), std::bit_cast<std::uint64_t>((*wanted)[i])) << text;
    accepted += wanted.has_value();
  }
  EXPECT_GT(accepted, 2000);
  EXPECT_LT(accepted, 8000);
}

TEST(mutations, gzip_files) {
  const folder here;
  dice d = dice_of_this_run(77);
  for (int k = 0; k < 3000; ++k) {
    std::string packed = gzip(seeds[d.below(seeds.size())]);
    if (d.below(4) == 0) packed += gzip("\n");
    switch (d.below(4)) {
    case 0:
      packed[d.below(packed.size())] ^= static_cast<char>(1 << d.below(8));
      break;
    case 1:
      packed.resize(d.below(packed.size()));
      break;
    case 2:
      packed += std::string(1 + d.below(20), static_cast<char>(d.below(3)));
      break;
    default:
      packed.erase(d.below(packed.size()), 1);
    }
    const auto file = here / "m.mtx.gz";
    put_file(file, packed);
    const outcome got = read_really(file);
    const auto text = packed.starts_with("\x1F\x8B") ? gunzip(packed, 1 << 16) : std::nullopt;
    ASSERT_NO_FATAL_FAILURE(compare(got, text ? read_plainly(*text) : std::nullopt, "gzip")) << "mutation " << k;
  }
}

TEST(mutations, archives) {
  const folder here;
  dice d = dice_of_this_run(4711);
  int accepted = 0;
  for (int k = 0; k < 2000; ++k) {
    const std::string text = seeds[d.below(2)];
    std::string tar = tar_member("m/m.mtx", text) +
                      tar_member("m/m_b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n") + tar_end;
    const bool inside = d.below(2);
    std::string& bytes = tar;
    if (!inside) bytes = gzip(tar);
    const std::size_t at = d.below(bytes.size());
    if (d.below(3) == 0) bytes.resize(at);
    else bytes[at] ^= static_cast<char>(1 << d.below(8));
    if (inside) bytes = gzip(bytes);
    put_file(here / "m.tar.gz", bytes);
    const outcome got = read_really(here / "m.tar.gz");
    if (!got.matrix) continue;
    ++accepted;
    // What is accepted is a text of the archive, as it is after the change.
    const auto all = gunzip(bytes);
    ASSERT_TRUE(all);
    const auto wanted = read_plainly(all->substr(512, text.size()));
    ASSERT_NO_FATAL_FAILURE(compare(got, wanted, *all)) << "mutation " << k;
  }
  EXPECT_GT(accepted, 0);
}
