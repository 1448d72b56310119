// SPDX-License-Identifier: BSD-3-Clause
// Sums and halos that kernels write into the memory of other GPUs themselves: no host, no library, no copy engine.
#include "link.hpp"

#include "backends/gpu/launch.hpp"
#include "distributed/bytes.hpp"

namespace furrow::gpu {
namespace {

/// Numbers that go to one sum: those of the longest basis, and the square beside them.
constexpr int most_numbers = int(most_basis) + 1;

__global__ void add_kernel(mailboxes all, few_sums sums) {
  take_turn();
  add_over_ranks(all, sums);
}

__global__ void add_many_kernel(mailboxes all, double* first, const double* count, double* last) {
  take_turn();
  const int numbers = int(*count) + 1;
  const std::uint32_t round = mailbox::round_after(*all.round);
  for (int k = int(threadIdx.x); k < numbers; k += int(blockDim.x)) {
    double* const at = k < numbers - 1 ? first + k : last;
    *at = exchange(all, round, k, *at);
  }
  __syncthreads();
  if (threadIdx.x == 0) *all.round = round;
}

/// Where elements of x go.
template <class V> struct pushes {
  struct route {
    std::uint64_t* there; ///< the first of two buffers
    index_t begin, end, to_second;
  };
  route to[mailbox::most_ranks];
  std::uint32_t* told[mailbox::most_ranks]; ///< of each neighbour: what this rank tells it
  int routes = 0, neighbours = 0;
};

constexpr int push_threads = 256;

__device__ void put_words(std::uint64_t* at, double number, std::uint32_t now) {
  put_two_for_all(at, mailbox::word_of(number, 0, now), mailbox::word_of(number, 1, now));
}
__device__ void put_words(std::uint64_t* at, float number, std::uint32_t now) {
  put_for_all(at, mailbox::word_of(number, now));
}

/// Writes each element where it belongs, as words that say which product it is for, and tells all neighbours that the
/// product has begun: no order among these, and nobody waits for what he has written.
template <class V>
__global__ void __launch_bounds__(push_threads)
    push_kernel(pushes<V> to, const std::int32_t* rows, index_t count, cview<V> x, product_numbers number) {
  take_turn();
  const std::uint32_t now = *number.ended + 1;
  const index_t stride = index_t(gridDim.x) * push_threads;
  for (index_t k = index_t(blockIdx.x) * push_threads + threadIdx.x; k < count; k += stride) {
    int r = 0;
    while (k >= to.to[r].end) ++r;
    const index_t word = (k - to.to[r].begin) * mailbox::words_of<V>;
    put_words(to.to[r].there + (now % 2) * to.to[r].to_second + word, x[rows[k]], now);
  }
  if (blockIdx.x > 0) return;
  for (int n = int(threadIdx.x); n < to.neighbours; n += push_threads) put_for_all(to.told[n], now);
  if (threadIdx.x == 0) *number.begun = now;
}

template <class V> class peer_halo final : public halo_on_gpu<V> {
public:
  peer_halo(communicator& c, peers& group, const halo_plan& plan, const patience_of_rank& patience)
      : count_(plan.rows_sent.size()), rows_(plan.rows_sent), state_(2) {
    fill_bytes(state_, 0);
    const halo_routes routes = routes_of(c, plan);
    struct room {
      std::uint64_t* words;
      index_t to_second;
      std::uint32_t* told;
    } mine{};
    constexpr index_t line = 128 / index_t(sizeof(std::uint64_t));
    mine.to_second = (routes.arrive * mailbox::words_of<V> + line - 1) / line * line;
    mine.words =
        static_cast<std::uint64_t*>(group.take(c.rank(), 2 * sizeof(std::uint64_t) * std::size_t(mine.to_second)));
    mine.told = static_cast<std::uint32_t*>(group.take(c.rank(), sizeof(std::uint32_t) * std::size_t(c.size())));
    wait(current_queue());
    const std::vector<room> all = gather_each(c, mine);
    for (const auto& s : routes.sends) {
      const room& r = all[std::size_t(s.rank)];
      to_.to[to_.routes++] = {r.words + s.at * mailbox::words_of<V>, s.begin, s.end, r.to_second};
    }
    here_.words = mine.words, here_.to_second = mine.to_second;
    here_.when.number = {state_.data(), state_.data() + 1};
    here_.when.told = mine.told, here_.when.patience = patience;
    for (const int n : routes.neighbours) {
      to_.told[to_.neighbours++] = all[std::size_t(n)].told + c.rank();
      here_.when.rank_of[here_.when.neighbours++] = n;
    }
  }

  bool waits_inside() const override { return to_.neighbours > 0; }
  void start(cview<V> x, const queue& q) override {
    if (to_.neighbours == 0) return;
    launch(push_kernel<V>, blocks_for(count_, push_threads, q, 4), push_threads, 0, q, to_, rows_.data(), count_, x,
           here_.when.number);
  }
  arriving<V> finish() override { return here_; }

private:
  index_t count_;
  gpu_array<std::int32_t> rows_;
  gpu_array<std::uint32_t> state_; ///< `product_numbers`
  pushes<V> to_{};
  arriving<V> here_{};
};

class peer_link final : public link {
public:
  peer_link(communicator& c, std::shared_ptr<peers> group) : c_(c), group_(std::move(group)), state_(2) {
    fill_bytes(state_, 0);
    auto* const round = reinterpret_cast<std::uint32_t*>(state_.data() + 1);
    all_.rank = c.rank(), all_.at = {c.size(), most_numbers}, all_.round = round;
    all_.patience = {group_->word(), state_.data(), std::uint64_t(peers::patience * 1e9), c.rank()};
    auto* const inbox =
        static_cast<std::uint64_t*>(group_->take(c.rank(), sizeof(std::uint64_t) * std::size_t(all_.at.words())));
    wait(current_queue());
    const auto others = gather_each(c, inbox);
    std::copy(others.begin(), others.end(), all_.inbox);
  }
  ~peer_link() override {
    group_->end(); // others that are still at it wait in vain
    try {
      wait(current_queue()); // nothing writes into memory that goes away
    } catch (const error&) {
    }
  }

  void add(std::span<const sum_over_ranks> sums) override {
    few_sums few{{}, int(sums.size())};
    std::copy(sums.begin(), sums.end(), few.of);
    launch(add_kernel, 1, warp, 0, current_queue(), all_, few);
  }
  void add(slot first, slot count, slot last) override {
    launch(add_many_kernel, 1, 128, 0, current_queue(), all_, first.at, static_cast<const double*>(count.at), last.at);
  }
  const mailboxes* in_kernels() const override { return &all_; }
  bool waits() const override { return false; }
  void check() const override { group_->check(); }
  void leave() noexcept override { group_->end(); }

  std::unique_ptr<halo_on_gpu<double>> make_halo(const halo_plan& plan, double) override { return halo<double>(plan); }
  std::unique_ptr<halo_on_gpu<float>> make_halo(const halo_plan& plan, float) override { return halo<float>(plan); }
  std::string way() const override { return "peer memory"; }
  double waited() const override {
    std::uint64_t nanoseconds = 0;
    copy_bytes(host_memory{}, &nanoseconds, gpu_memory{}, state_.data(), sizeof nanoseconds);
    return 1e-9 * double(nanoseconds);
  }

private:
  template <class V> std::unique_ptr<halo_on_gpu<V>> halo(const halo_plan& plan) {
    return std::make_unique<peer_halo<V>>(c_, *group_, plan, all_.patience);
  }

  communicator& c_;
  std::shared_ptr<peers> group_;
  gpu_array<std::uint64_t> state_; ///< nanoseconds of waiting; the number of the last sum
  mailboxes all_{};
};

} // namespace

std::unique_ptr<link> link_peers(communicator& c, std::shared_ptr<peers> group) {
  return std::make_unique<peer_link>(c, std::move(group));
}

} // namespace furrow::gpu
