// SPDX-License-Identifier: BSD-3-Clause
#include "bytes.hpp"
#include "machine.hpp"
#include "together.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace furrow {
namespace {

/// Another communicator's ranks, with a GPU.
class rank_with_gpu final : public communicator {
public:
  rank_with_gpu(communicator& c, device where, gpu_way through) : c_(c), where_(where), through_(through) {}

  int rank() const override { return c_.rank(); }
  int size() const override { return c_.size(); }
  void gather_all(cview<std::byte> mine, view<std::byte> all) override { c_.gather_all(mine, all); }
  void start(std::span<const outgoing> sends, std::span<const incoming> receives) override {
    c_.start(sends, receives);
  }
  void finish() override { c_.finish(); }
  [[noreturn]] void abort(const error& why) override {
    c_.abort(why);
    throw error(fault::internal, "abort of a communicator returned, which it must not");
  }
  device where() const override { return where_; }
  gpu_way through() const override { return through_; }

private:
  communicator& c_;
  device where_;
  gpu_way through_;
};

/// The number of this rank among those of its machine.
int number_here(communicator& c) {
  const auto all = gather_each(c, name_of_machine());
  return int(std::count(all.begin(), all.begin() + c.rank(), all[static_cast<std::size_t>(c.rank())]));
}

} // namespace

std::unique_ptr<communicator> with_gpus(communicator& c, const std::vector<device>& here, gpu_way through) {
  together(c, [&] {
    check(!here.empty() && std::ranges::all_of(here, &device::is_gpu), fault::usage,
          "ranks with a GPU each need a list of GPUs of their machine: give at least one, and nothing else");
  });
  const auto mine = static_cast<std::size_t>(number_here(c)) % here.size();
  return std::make_unique<rank_with_gpu>(c, here[mine], through);
}

} // namespace furrow
