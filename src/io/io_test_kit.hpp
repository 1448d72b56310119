// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>
#include <furrow/io.hpp>

#include "unpack/unpack.hpp"

#include <bzlib.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

/// What the tests of src/io share.
namespace furrow::io_test {

/// A sequence of its own, the same everywhere: splitmix64.
struct dice {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t n) { return n ? next() % n : 0; }
};

/// The dice of a test: the same at every run, but others at every turn of
/// `--gtest_shuffle --gtest_repeat=N`, whose seed counts up from `--gtest_random_seed`.
inline dice dice_of_this_run(std::uint64_t seed) {
  const auto turn = static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed());
  return {seed + (turn << 32)};
}

/// A folder that goes away with the test.
struct folder {
  std::filesystem::path path;
  folder() {
    static int count = 0;
    // In memory where that can be: thousands of small files on a disk would measure the disk.
    const std::filesystem::path memory = "/dev/shm";
    const bool fits = ::access(memory.c_str(), W_OK) == 0;
    path = (fits ? memory : std::filesystem::temp_directory_path()) /
           ("furrow-io-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()));
  }
};

inline void put_file(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
inline std::string bytes_of(const std::filesystem::path& file) {
  std::ostringstream all;
  all << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(all).str();
}

inline std::string gzip(const std::string& text) {
  libdeflate_compressor* tool = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(tool, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(tool, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(tool);
  return out;
}
/// Empty where the checks of the gzip file fail.
inline std::optional<std::string> gunzip(const std::string& packed, std::size_t limit = 1 << 22) {
  libdeflate_decompressor* tool = libdeflate_alloc_decompressor();
  std::string out;
  std::optional<std::string> all = std::string();
  for (std::size_t at = 0; all && at < packed.size();) {
    if (at > 0 && packed.find_first_not_of('\0', at) == std::string::npos) break;
    std::size_t in = 0, made = 0;
    out.resize(limit);
    if (libdeflate_gzip_decompress_ex(tool, packed.data() + at, packed.size() - at, out.data(), out.size(), &in,
                                      &made) != LIBDEFLATE_SUCCESS)
      all.reset();
    else all->append(out, 0, made);
    at += in;
  }
  libdeflate_free_decompressor(tool);
  return all;
}

/// `text` as one member of a compressed file, with its checksum.
inline std::string pack(io::packing how, const std::string& text) {
  using io::packing;
  if (how == packing::none) return text;
  if (how == packing::gzip) return gzip(text);
  std::string out(2 * text.size() + 4096, '\0');
  if (how == packing::bzip2) {
    auto size = static_cast<unsigned>(out.size());
    EXPECT_EQ(BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(text.data()),
                                       static_cast<unsigned>(text.size()), 9, 0, 0),
              BZ_OK);
    out.resize(size);
  } else if (how == packing::xz) {
    std::size_t size = 0;
    EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                      text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
              LZMA_OK);
    out.resize(size);
  } else {
    ZSTD_CCtx* const tool = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(tool, ZSTD_c_checksumFlag, 1);
    const std::size_t size = ZSTD_compress2(tool, out.data(), out.size(), text.data(), text.size());
    EXPECT_FALSE(ZSTD_isError(size));
    ZSTD_freeCCtx(tool);
    out.resize(size);
  }
  return out;
}
inline constexpr io::packing packings[] = {io::packing::gzip, io::packing::bzip2, io::packing::xz, io::packing::zstd};

/// One file of a tar archive.
inline std::string tar_member(const std::string& name, const std::string& text, char type = '0') {
  std::string head(512, '\0');
  const auto put = [&](std::size_t at, const std::string& s) { head.replace(at, s.size(), s); };
  const auto octal = [](std::size_t value, int digits) {
    std::string s;
    for (; digits > 0; --digits, value /= 8) s.insert(s.begin(), static_cast<char>('0' + value % 8));
    return s;
  };
  put(0, name), put(100, "0000644"), put(108, "0000000"), put(116, "0000000");
  put(124, octal(text.size(), 11)), put(136, "00000000000"), put(148, "        "), put(156, std::string(1, type)),
      put(257, "ustar"), put(263, "00");
  unsigned sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  put(148, octal(sum, 6) + '\0' + ' ');
  return head + text + std::string((512 - text.size() % 512) % 512, '\0');
}
inline const std::string tar_end(1024, '\0');

/// The message of the fault::input that `call` throws; fails the test where it throws nothing or something else.
template <class F> std::string refusal(F&& call) {
  try {
    call();
  } catch (const error& wrong) {
    EXPECT_EQ(wrong.kind, fault::input) << wrong.what();
    const std::string what = wrong.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << "one sentence: " << what;
    return what;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "an exception that is none of Furrow's: " << other.what();
    return {};
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

struct entry {
  std::int64_t row, col;
  double val;
  friend bool operator==(const entry& x, const entry& y) {
    const bool same = std::bit_cast<std::uint64_t>(x.val) == std::bit_cast<std::uint64_t>(y.val);
    return x.row == y.row && x.col == y.col && (same || (std::isnan(x.val) && std::isnan(y.val))); // NaN has no sign
  }
};
inline std::ostream& operator<<(std::ostream& to, const entry& e) {
  return to << e.row << ' ' << e.col << ' ' << e.val;
}
inline std::vector<entry> list(const coo<double>& a) {
  std::vector<entry> out;
  for (index_t k = 0; k < a.nnz(); ++k) out.push_back({a.row[k], a.col[k], a.val[k]});
  return out;
}

inline coo<double> make(shape2 shape, const std::vector<entry>& entries) {
  const auto n = static_cast<index_t>(entries.size());
  coo<double> a{shape, host_array<std::int32_t>(n), host_array<std::int32_t>(n), host_array<double>(n)};
  for (index_t k = 0; k < n; ++k) {
    const entry& e = entries[static_cast<std::size_t>(k)];
    a.row[k] = static_cast<std::int32_t>(e.row), a.col[k] = static_cast<std::int32_t>(e.col), a.val[k] = e.val;
  }
  return a;
}

/// A reader that is slow and simple, written apart from the real one: empty for what must be refused.
struct plain_matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<entry> entries;
};
std::optional<plain_matrix> read_plainly(const std::string& text);
std::optional<std::vector<double>> read_vector_plainly(const std::string& text);

} // namespace furrow::io_test
