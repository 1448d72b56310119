// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "peers.hpp"
#include "routes.hpp"

#include "backends/gpu/ranks_space.hpp"
#include "distributed/halo.hpp"
#include "distributed/nccl/library.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace furrow::gpu {

/// The products of a rank, as its kernels count them: who sends reads `ended`, and who receives reads `begun`, so that
/// none of their blocks sees a number change.
struct product_numbers {
  std::uint32_t* begun = nullptr; ///< the last one whose elements this rank has sent; null: nothing is counted
  std::uint32_t* ended = nullptr; ///< the last one for which it has what others sent
};

/// What a kernel knows of those who send to it.
struct arrivals {
  product_numbers number{};            ///< null: what has arrived lies there plainly, and nobody waits
  const std::uint32_t* told = nullptr; ///< by rank: the product that it has begun last
  int neighbours = 0;
  int rank_of[mailbox::most_ranks] = {}; ///< of each neighbour
  patience_of_rank patience{};
};
/// Elements that come from others, in the order of the plan's columns: plainly, or as words that carry the number of
/// the product beside the bits (mailbox.hpp), two buffers by turns.
template <class V> struct arriving {
  const V* there = nullptr;
  const std::uint64_t* words = nullptr; ///< of the first buffer
  index_t to_second = 0;                ///< words from there to the second one
  arrivals when{};
};

/// Brings what a product needs of others.
template <class V> struct halo_on_gpu {
  virtual ~halo_on_gpu() = default;
  /// Begins, on the stream of `q`; x must not change until what was enqueued there since has run.
  virtual void start(cview<V> x, const queue& q) = 0;
  /// What the next kernel reads.
  virtual arriving<V> finish() = 0;
  /// Whether that kernel waits for the elements itself, so that it may be enqueued beside other work.
  virtual bool waits_inside() const { return false; }
};

/// How a rank's GPU talks to those of the others: by writing into their memory, by NCCL, or through the host. All ranks
/// call its functions together.
class link : public sums_over_ranks {
public:
  virtual std::unique_ptr<halo_on_gpu<double>> make_halo(const halo_plan& plan, double) = 0;
  virtual std::unique_ptr<halo_on_gpu<float>> make_halo(const halo_plan& plan, float) = 0;
  /// "peer memory", "NCCL 2.28.9", or "the host: gpu:0 has several ranks".
  virtual std::string way() const = 0;
  /// Seconds that this rank has waited for others so far. Waits for what is enqueued.
  virtual double waited() const = 0;
  /// For a rank that fails: nobody waits for it any longer.
  virtual void leave() noexcept {}
};

/// Through peer memory; `group` as `find_peers` gives it.
std::unique_ptr<link> link_peers(communicator& c, std::shared_ptr<peers> group);
/// By NCCL, between GPUs of any processes and machines, no two ranks on one; `by` must be there on all ranks. A rank
/// that waits for longer than `patience` ends the solve.
std::unique_ptr<link> link_by_nccl(communicator& c, const nccl::library& by, std::chrono::milliseconds patience);
/// Through pinned memory of the host and whatever `c` sends by; `because` is a sentence.
std::unique_ptr<link> link_through_host(communicator& c, std::string because);

/// The way that `c.through()` of the first rank asks for; the best that there is where it leaves that open. Throws as
/// `choose_way`, on all ranks alike.
std::unique_ptr<link> open_link(communicator& c);

} // namespace furrow::gpu
