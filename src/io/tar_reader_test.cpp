// SPDX-License-Identifier: BSD-3-Clause
#include "tar_reader.hpp"

#include "io_test_kit.hpp"

#include <cstring>

using namespace furrow;
using namespace furrow::io_test;

namespace {

struct text_stream final : io::byte_stream {
  std::string text;
  std::size_t at = 0;
  explicit text_stream(std::string text) : text(std::move(text)) {}
  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t some = std::min({wanted, text.size() - at, std::size_t(300)}); // never as much as is wanted
    std::memcpy(to, text.data() + at, some);
    at += some;
    return some;
  }
};

using files = std::vector<std::pair<std::string, std::string>>;

/// All files of an archive; without `read` they are passed over.
files files_of(const std::string& tar, bool read = true) {
  files out;
  for (io::tar_reader in("a.tar", std::make_unique<text_stream>(tar)); in.next();) {
    std::string text;
    if (read) {
      char some[1000];
      while (const std::size_t got = in.read(some, sizeof some)) text.append(some, got);
      EXPECT_EQ(text.size(), in.size());
    }
    out.emplace_back(in.name(), text);
  }
  return out;
}

std::string refused(const std::string& tar) {
  return refusal([&] { files_of(tar); });
}

/// One line of attributes: its length counts itself.
std::string attribute(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

/// A header with other bytes at `at`, and its checksum.
std::string altered(std::string member, std::size_t at, const std::string& bytes) {
  member.replace(at, bytes.size(), bytes);
  member.replace(148, 8, "        ");
  unsigned sum = 0;
  for (std::size_t k = 0; k < 512; ++k) sum += static_cast<unsigned char>(member[k]);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  return member.replace(148, 7, std::string(text, 7));
}

const std::string long_name(300, 'n');

} // namespace

TEST(tar, files_in_their_order_and_nothing_else) {
  const std::string tar = tar_member("m/", "", '5') + tar_member("m/a", "hello") + tar_member("m/link", "", '2') +
                          tar_member("m/b", std::string(512, 'b')) + tar_member("m/empty", "") +
                          tar_member("m/old", "old", '\0') + tar_member("m/hard", "", '1') +
                          tar_member("m/long", std::string(100'000, 'x')) + tar_end;
  const files wanted{{"m/a", "hello"},
                     {"m/b", std::string(512, 'b')},
                     {"m/empty", ""},
                     {"m/old", "old"},
                     {"m/long", std::string(100'000, 'x')}};
  EXPECT_EQ(files_of(tar), wanted);
  EXPECT_EQ(files_of(tar.substr(0, tar.size() - 1024)), wanted); // without its end mark
  EXPECT_EQ(files_of(tar, false).size(), wanted.size());
}

TEST(tar, long_names) {
  EXPECT_EQ(files_of(tar_member("././@LongLink", long_name + '\0', 'L') + tar_member(long_name.substr(0, 99), "gnu") +
                     tar_member("short", "2") + tar_end),
            (files{{long_name, "gnu"}, {"short", "2"}}));
  EXPECT_EQ(files_of(tar_member("PaxHeaders/1", attribute("mtime", "1.5") + attribute("path", long_name), 'x') +
                     tar_member("n", "pax") + tar_member("short", "2") + tar_end),
            (files{{long_name, "pax"}, {"short", "2"}}));
  EXPECT_EQ(files_of(altered(tar_member("name", "ustar"), 345, "some/folder") + tar_end),
            (files{{"some/folder/name", "ustar"}}));
  EXPECT_EQ(files_of(tar_member("pax_global_header", attribute("comment", "x"), 'g') + tar_member("n", "1") + tar_end),
            (files{{"n", "1"}}));
}

TEST(tar, sizes_beside_the_octal_digits) {
  const std::string text(700, 't'), member = tar_member("n", text);
  EXPECT_EQ(files_of(altered(member, 124, std::string("\x80\0\0\0\0\0\0\0\0\0\x02\xBC", 12)) + tar_end),
            (files{{"n", text}}));
  EXPECT_EQ(files_of(tar_member("x", attribute("size", "700"), 'x') + altered(member, 124, "00000000000") + tar_end),
            (files{{"n", text}}));
  for (const std::string& size : {std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12),
                                  std::string("\x80\0\0\x01\0\0\0\0\0\0\0\0", 12), std::string("0000000009x ")})
    EXPECT_TRUE(refused(altered(member, 124, size) + tar_end).ends_with("the size of a file is no number"));
  EXPECT_NE(refused(altered(member, 124, std::string("\x80\0\0\0\x10\0\0\0\0\0\0\0", 12)) + tar_end).find("cut short"),
            std::string::npos);
}

TEST(tar, what_is_refused) {
  for (const std::string name : {"/etc/n", "../n", "m/../../n", ".."}) {
    EXPECT_NE(refused(tar_member(name, "1") + tar_end).find("leads outside"), std::string::npos) << name;
    EXPECT_NE(
        refused(tar_member("x", attribute("path", name), 'x') + tar_member("n", "1") + tar_end).find("leads outside"),
        std::string::npos);
    EXPECT_NE(refused(tar_member("x", name + '\0', 'L') + tar_member("n", "1") + tar_end).find("leads outside"),
              std::string::npos);
  }
  EXPECT_NE(refused(tar_member("n", "1", 'S') + tar_end).find("'n' is stored as a sparse file"), std::string::npos);
  const std::string sparse = tar_member("x", attribute("GNU.sparse.major", "1"), 'x') + tar_member("n", "1") + tar_end;
  EXPECT_NE(refused(sparse).find("'n' is stored as a sparse file"), std::string::npos);
  EXPECT_EQ(files_of(sparse, false).size(), 1u); // one that nobody reads does no harm
  EXPECT_NE(refused(tar_member("n", "1", 'M') + tar_end).find("several volumes"), std::string::npos);
  for (const char* text : {"5 a=b", "999 path=x\n", "path=x\n", "0 a=\n", "4 a\nb", "18446744073709551629 a=b\n"})
    EXPECT_NE(refused(tar_member("x", text, 'x') + tar_member("n", "1") + tar_end).find("no lines of KEY=VALUE"),
              std::string::npos)
        << text;
  EXPECT_NE(refused(tar_member("x", attribute("size", "-5"), 'x') + tar_member("n", "1") + tar_end)
                .find("the size of a file is no number"),
            std::string::npos);
  EXPECT_NE(refused(tar_member("x", std::string(2 << 20, 'n'), 'L') + tar_member("n", "1") + tar_end).find("1 MiB"),
            std::string::npos);
  EXPECT_NE(refused(tar_member("", "1") + tar_end).find("no name"), std::string::npos);
}

TEST(tar, every_cut_and_every_damaged_header_is_seen) {
  const std::string members = tar_member("x", attribute("path", long_name), 'x') + tar_member("a", "hello") +
                              tar_member("b", std::string(600, 'b'));
  const files wanted = files_of(members + tar_end);
  for (std::size_t size = 1; size < members.size(); size += 7)
    if (size % 512 != 0) {
      EXPECT_NE(refused(members.substr(0, size)).find("the archive is damaged: "), std::string::npos) << size;
    }
  dice d{11};
  for (int k = 0; k < 2000; ++k) {
    const std::size_t headers[] = {0, 1024, 2048};
    std::string bad = members + tar_end;
    const std::size_t at = headers[d.below(3)] + d.below(512);
    bad[at] = static_cast<char>(bad[at] ^ (1 << d.below(8)));
    try { // the checksum itself may be written in several ways
      EXPECT_EQ(files_of(bad), wanted) << at;
    } catch (const error& wrong) {
      EXPECT_EQ(wrong.kind, fault::input);
    }
  }
}
