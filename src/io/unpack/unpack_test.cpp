// SPDX-License-Identifier: BSD-3-Clause
#include "io/io_test_kit.hpp"

using namespace furrow;
using namespace furrow::io_test;

namespace {

const std::string matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n";
const std::vector<entry> wanted{{0, 0, 3}, {1, 1, 4}};

/// A file with these bytes, under a name that says nothing.
struct packed_file {
  folder here;
  std::filesystem::path file = here / "m";
  void put(const std::string& bytes) const { put_file(file, bytes); }
  std::vector<entry> entries() const { return list(read_matrix(file).a); }
  std::string refusal() const {
    return io_test::refusal([&] { read_matrix(file); });
  }
};

std::string long_text() {
  std::string text = "%%MatrixMarket matrix coordinate real general\n1000 1000 300000\n";
  dice d{17};
  for (int k = 0; k < 300000; ++k)
    text += std::to_string(1 + d.below(1000)) + " " + std::to_string(1 + d.below(1000)) + " " +
            std::to_string(d.below(100000)) + "\n";
  return text;
}

} // namespace

TEST(unpack, every_kind_is_known_by_its_content) {
  const packed_file f;
  for (const io::packing how : packings) {
    f.put(pack(how, matrix));
    EXPECT_EQ(f.entries(), wanted);
    EXPECT_EQ(read_header(f.file).stored, 2);
    f.put(pack(how, tar_member("m/m.mtx", matrix) + tar_end));
    EXPECT_EQ(f.entries(), wanted);
    f.put(pack(how, "1\n2\n3\n"));
    EXPECT_EQ(read_vector(f.file).size(), 3);
  }
}

TEST(unpack, members_skippable_frames_and_padding) {
  const packed_file f;
  for (const io::packing how : packings) {
    const std::string both = pack(how, matrix.substr(0, 60)) + pack(how, matrix.substr(60));
    f.put(both + pack(how, ""));
    EXPECT_EQ(f.entries(), wanted);
    f.put(both + std::string(100'000, '\0'));
    EXPECT_EQ(f.entries(), wanted);
    f.put(both + "x");
    EXPECT_TRUE(f.refusal().find("there is something else behind the ") != std::string::npos);
    f.put(both + std::string(70'000, '\0') + "x");
    EXPECT_TRUE(f.refusal().find("there is something else behind the ") != std::string::npos);
  }
  const std::string skippable("\x52\x2A\x4D\x18\x03\0\0\0abc", 11);
  f.put(skippable + pack(io::packing::zstd, matrix) + skippable);
  EXPECT_EQ(f.entries(), wanted);
}

TEST(unpack, texts_longer_than_any_buffer) {
  const packed_file f;
  const std::string text = long_text();
  f.put(text);
  const auto plain = f.entries();
  for (const io::packing how : packings) {
    f.put(pack(how, text.substr(0, text.size() / 2)) + pack(how, text.substr(text.size() / 2)));
    EXPECT_EQ(f.entries(), plain);
  }
}

TEST(unpack, every_cut_is_seen) {
  const packed_file f;
  for (const io::packing how : packings) {
    const std::string whole = pack(how, matrix);
    for (std::size_t size = 6; size < whole.size(); ++size) {
      f.put(whole.substr(0, size));
      EXPECT_TRUE(f.refusal().ends_with(" stream is cut short")) << int(how) << " at " << size;
    }
  }
}

TEST(unpack, no_damage_goes_unseen) {
  const packed_file f;
  dice d{3};
  for (const io::packing how : packings) {
    const std::string whole = pack(how, matrix);
    for (int k = 0; k < 400; ++k) {
      std::string bad = whole;
      bad[d.below(bad.size())] ^= static_cast<char>(1 << d.below(8));
      f.put(bad);
      try { // a bit that means nothing (the date in the head of gzip) may change
        EXPECT_EQ(f.entries(), wanted);
      } catch (const error& wrong) {
        EXPECT_TRUE(wrong.kind == fault::input || wrong.kind == fault::memory) << wrong.what();
      }
    }
  }
}

TEST(unpack, promises_are_bounded_by_what_can_be_inside) {
  const packed_file f;
  const std::string promise = "%%MatrixMarket matrix coordinate real general\n9999999 9999999 99999999999999\n1 1 1\n";
  for (const io::packing how : packings) {
    f.put(pack(how, promise));
    EXPECT_TRUE(f.refusal().find(":2: the size line promises 99999999999999 entries") != std::string::npos);
  }
}

TEST(unpack, a_dictionary_that_the_memory_cannot_hold) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 1);
  options.dict_size = UINT32_C(1) << 30;
  const lzma_filter chain[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_stream tool = LZMA_STREAM_INIT;
  if (lzma_stream_encoder(&tool, chain, LZMA_CHECK_CRC32) != LZMA_OK) GTEST_SKIP() << "no memory to make the file";
  std::string out(4096, '\0');
  tool.next_in = reinterpret_cast<const std::uint8_t*>(matrix.data()), tool.avail_in = matrix.size();
  tool.next_out = reinterpret_cast<std::uint8_t*>(out.data()), tool.avail_out = out.size();
  ASSERT_EQ(lzma_code(&tool, LZMA_FINISH), LZMA_STREAM_END);
  out.resize(out.size() - tool.avail_out);
  lzma_end(&tool);
  const packed_file f;
  f.put(out);
  EXPECT_EQ(f.entries(), wanted); // a size that is announced and never touched costs nothing
}
