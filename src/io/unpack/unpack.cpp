// SPDX-License-Identifier: BSD-3-Clause
#include "unpack.hpp"

#include "codec.hpp"
#include "core/check.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <vector>

namespace furrow::io {
namespace {

constexpr struct {
  packing how;
  std::string_view name;
  std::unique_ptr<codec> (*make)();
  /// gzip: two bits for 258 bytes. bzip2: 900,000 bytes of a block are at most 255 for 5 each, its head and tables 24
  /// bytes at least. xz: 273 bytes for a match, whose ten decisions cost 0.022 bits each. zstd: 4 bytes repeat a byte
  /// 131,072 times.
  double ratio;
} kinds[] = {
    {packing::gzip, "gzip", make_gzip, 1032},
    {packing::bzip2, "bzip2", make_bzip2, 2e6},
    {packing::xz, "xz", make_xz, 1e4},
    {packing::zstd, "zstd", make_zstd, 32768},
};

const auto& kind_of(packing how) {
  return *std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return k.how == how; });
}

class unpacked_stream final : public byte_stream {
public:
  unpacked_stream(packing how, std::unique_ptr<byte_stream> below, std::string file)
      : file_(std::move(file)), kind_(kind_of(how).name), below_(std::move(below)), codec_(kind_of(how).make()),
        packed_(1 << 16) {
    begin();
  }

  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t limit = std::min<std::size_t>(wanted, 1u << 30); // some codecs count in 32 bits
    flow_.out = to;
    flow_.out_left = limit;
    while (!done_ && flow_.out_left > 0) {
      if (flow_.in_left == 0) refill();
      if (between_ && !next_member()) break;
      const std::size_t before = flow_.out_left;
      switch (codec_->step(flow_)) {
      case codec::outcome::going: // at the end of the file a codec may still hold bytes
        if (ended_ && flow_.in_left == 0 && flow_.out_left == before) fail("is cut short");
        break;
      case codec::outcome::ended:
        between_ = true;
        break;
      case codec::outcome::corrupt: {
        const std::string why = codec_->why();
        fail("is corrupt" + (why.empty() ? "" : ": " + why));
      }
      case codec::outcome::no_memory:
        refuse_memory();
      }
    }
    return limit - flow_.out_left;
  }

private:
  void refill() {
    if (ended_) return;
    flow_.in = packed_.data();
    flow_.in_left = below_->read(packed_.data(), packed_.size());
    ended_ = flow_.in_left == 0;
  }
  /// Behind a member comes another one, or nothing but zeros.
  bool next_member() {
    done_ = ended_;
    if (done_) return false;
    if (*flow_.in != 0) {
      if (!codec_->can_begin(static_cast<unsigned char>(*flow_.in))) refuse_rest();
      begin();
      between_ = false;
      return true;
    }
    for (; !ended_; refill())
      if (std::any_of(flow_.in, flow_.in + flow_.in_left, [](char c) { return c != 0; })) refuse_rest();
    done_ = true;
    return false;
  }
  void begin() {
    if (!codec_->begin()) refuse_memory();
  }
  [[noreturn]] void fail(const std::string& how) const { refuse(file_, fmt::format("the {} stream {}", kind_, how)); }
  [[noreturn]] void refuse_rest() const {
    refuse(file_, fmt::format("there is something else behind the {} stream", kind_));
  }
  [[noreturn]] void refuse_memory() const {
    throw error(fault::memory, fmt::format("{}: no memory to decompress the {} stream", file_, kind_));
  }

  std::string file_;
  std::string_view kind_;
  std::unique_ptr<byte_stream> below_;
  std::unique_ptr<codec> codec_;
  std::vector<char> packed_;
  flow flow_;
  bool between_ = false, ended_ = false, done_ = false;
};

} // namespace

packing packing_of(std::string_view first) {
  if (first.starts_with("\x1F\x8B")) return packing::gzip;
  const bool level = first.size() > 3 && first[3] >= '1' && first[3] <= '9';
  if (first.starts_with("BZh") && level) return packing::bzip2;
  if (first.starts_with(std::string_view("\xFD\x37\x7A\x58\x5A\0", 6))) return packing::xz;
  if (first.starts_with("\x28\xB5\x2F\xFD")) return packing::zstd;
  const bool skippable = first.size() > 3 && (first[0] & '\xF0') == '\x50' && first.substr(1, 3) == "\x2A\x4D\x18";
  return skippable ? packing::zstd : packing::none;
}

std::unique_ptr<byte_stream> unpacked(packing how, std::unique_ptr<byte_stream> below, const std::string& name) {
  if (how == packing::none) return below;
  return std::make_unique<unpacked_stream>(how, std::move(below), name);
}

double largest_ratio(packing how) { return how == packing::none ? 1 : kind_of(how).ratio; }

} // namespace furrow::io
