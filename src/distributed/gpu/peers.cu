// SPDX-License-Identifier: BSD-3-Clause
#include "peers.hpp"

#include "backends/gpu/mailbox.hpp"
#include "distributed/bytes.hpp"
#include "distributed/process.hpp"

#include <atomic>
#include <utility>

namespace furrow::gpu {
namespace {

struct place_of_rank {
  process_token process;
  device on;
};

bool reaches(int ordinal, int other) {
  int yes = 0;
  return ordinal == other || (runtime::works(runtime::reaches(&yes, ordinal, other)) && yes != 0);
}

std::string name(device d) { return "gpu:" + std::to_string(d.ordinal); }

/// Why these places do not reach each other; empty where they do.
std::string obstacle(const std::vector<place_of_rank>& all) {
  if (all.size() > std::size_t(mailbox::most_ranks))
    return "there are more than " + std::to_string(mailbox::most_ranks) + " ranks";
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      if (all[a].process != all[b].process) return "they are in several processes";
      if (all[a].on == all[b].on) return name(all[a].on) + " has several ranks";
      if (!reaches(all[a].on.ordinal, all[b].on.ordinal) || !reaches(all[b].on.ordinal, all[a].on.ordinal))
        return name(all[a].on) + " and " + name(all[b].on) + " cannot read each other's memory";
    }
  return {};
}

} // namespace

peers::peers(std::vector<device> on) : on_(std::move(on)), pools_(on_.size(), nullptr) {
  void* word = nullptr;
  gpu::check(runtime::take_pinned(&word, sizeof *word_));
  word_ = static_cast<std::uint32_t*>(word);
  *word_ = 0;
}

peers::~peers() {
  for (const piece& p : pieces_) {
    const selected_device here(p.ordinal);
    try {
      const queue& q = current_queue();
      gpu::check(runtime::release(p.data, q.stream));
      wait(q);
    } catch (const error&) {
    } // the device is gone
  }
  for (const runtime::pool p : pools_)
    if (p) runtime::end(p);
  runtime::release_pinned(word_);
}

/// Memory that all of them reach.
runtime::pool peers::open_pool(int ordinal) const {
  runtime::pool made = nullptr;
  gpu::check(runtime::make_pool(ordinal, &made));
  for (const device d : on_) {
    const runtime::code opened = d.ordinal == ordinal ? runtime::success : runtime::open_to(made, d.ordinal);
    if (opened != runtime::success) runtime::end(made);
    gpu::check(opened);
  }
  return made;
}

void* peers::take(int rank, std::size_t bytes) {
  const int ordinal = on_[static_cast<std::size_t>(rank)].ordinal;
  const selected_device here(ordinal);
  const queue& q = current_queue();
  bytes = std::max(bytes, padding);
  runtime::pool& pool = pools_[static_cast<std::size_t>(rank)]; // of the one thread that asks for this rank
  if (!pool) pool = open_pool(ordinal);
  piece p{ordinal, nullptr};
  gpu::check(runtime::take(&p.data, bytes, pool, q.stream));
  {
    const std::lock_guard lock(busy_);
    pieces_.push_back(p);
  }
  fill_bytes(p.data, 0, bytes, q);
  wait(q);
  return p.data;
}

void peers::end() noexcept {
  std::uint32_t well = 0;
  std::atomic_ref(*word_).compare_exchange_strong(well, ended);
}

void peers::check() const {
  const std::uint32_t code = std::atomic_ref(*word_).load(std::memory_order_relaxed);
  if (code == 0) return;
  if (code == ended) throw error(fault::device, "the solve of another rank has ended");
  const int rank = int(code >> 16) - 1, whom = int(code & 0xffff) - 1;
  const auto said = [&](int r) { return name(on_[static_cast<std::size_t>(r)]) + " (rank " + std::to_string(r) + ")"; };
  throw error(fault::device, said(rank) + " has waited " + std::to_string(int(patience)) + " s for " + said(whom) +
                                 ", which does not answer: the solve ends");
}

std::shared_ptr<peers> find_peers(communicator& c, std::string& why_not) {
  const auto all = gather_each(c, place_of_rank{token_of_process(), c.where()});
  why_not = obstacle(all);
  if (!why_not.empty()) return nullptr;
  std::shared_ptr<peers> group;
  if (c.rank() == 0) {
    std::vector<device> on;
    for (const place_of_rank& p : all) on.push_back(p.on);
    group = std::make_shared<peers>(std::move(on));
  }
  const std::shared_ptr<peers>* const of_first = gather_each(c, &std::as_const(group)).front(); // of this process
  if (c.rank() != 0) group = *of_first;
  gather_each(c, 0); // until all have it
  return group;
}

} // namespace furrow::gpu
