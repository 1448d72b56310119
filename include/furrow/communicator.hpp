// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/view.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Bytes that go to another rank, or room for those that come from it.
struct outgoing {
  int rank = 0;
  cview<std::byte> data;
};
struct incoming {
  int rank = 0;
  view<std::byte> data;
};

/// What the GPUs of ranks talk through: each other's memory, which kernels write; NCCL, also between processes and
/// machines; or pinned memory of the host and the communicator, with a wait for each sum. `best`: the first of these
/// that there is.
enum class gpu_way { best, peer_memory, nccl, host };

/// A group of ranks, numbered from 0, that solve together: threads of a process, or processes on one machine or many.
/// A communicator of one's own is a class with the five pure functions. Each rank holds an object of its own; its
/// functions are called by one thread of that rank, in the same order on all ranks.
class communicator {
public:
  virtual ~communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// all[r * mine.size + k] <- mine[k] of rank r, on every rank. `mine` has the same size everywhere, and
  /// all.size = size() * mine.size. Waits for all ranks.
  virtual void gather_all(cview<std::byte> mine, view<std::byte> all) = 0;

  /// Begins to send and to receive, and returns; `finish` waits until all of it has happened. What is sent must not
  /// change, what is received must not be read in between. At most one message from a rank to another at a time, none
  /// to itself; what a rank sends to another is what that one receives from it, of the same size, in the same exchange.
  /// No other function but `finish` is called in between.
  virtual void start(std::span<const outgoing> sends, std::span<const incoming> receives) = 0;
  virtual void finish() = 0;

  /// For a rank that failed where others wait for it: ends the work of all ranks, here and there, with this sentence.
  /// Threads get an exception; processes that cannot be woken are ended.
  [[noreturn]] virtual void abort(const error& why) = 0;

  /// The device that this rank computes on: all ranks are on processors, or all have a GPU.
  virtual device where() const { return {}; }
  /// What the GPUs of all ranks are to talk through: the first rank's word counts.
  virtual gpu_way through() const { return gpu_way::best; }

  /// value[k] <- the sum over the ranks, added in their order by every rank: the same bits on all of them, and for this
  /// number of ranks on every run. Cost: a `gather_all` of as many numbers.
  void sum(view<double> values);
  double sum(double value);
  double max(double value);
  bool any(bool mine); ///< whether it is true on some rank
  /// What rank 0 has.
  double of_first(double value);

private:
  std::vector<double> all_; ///< room for `sum`
};

/// Runs f(communicator) on `count` ranks, which are threads of this process, rank 0 the caller's; returns when all have
/// ended. They share the threads that the CPU part may use, `threads()`, evenly, one at least each. Where f throws on
/// one rank the others are woken from whatever they wait for, and that exception is thrown again here; a rank that ends
/// while another waits for it is an `error` that says so. Throws `fault::usage` for a count below 1 or above 256, and
/// `fault::memory` where the system starts no more threads.
void run_ranks(int count, const std::function<void(communicator&)>& f);

/// The same with a device for each rank, its `where()`: GPUs of this host, one a rank. The same one twice is possible,
/// and slow: its ranks talk through the host.
void run_ranks(const std::vector<device>& on, const std::function<void(communicator&)>& f);

/// The same, and what these GPUs talk through. Throws `fault::device`, when a solve begins, where they cannot.
void run_ranks(const std::vector<device>& on, const std::function<void(communicator&)>& f, gpu_way through);

/// The ranks of `c`, which must outlive it, with a GPU each: of those of its machine that `here` lists, this rank takes
/// the one of its number among the ranks that run there, from the first one again where there are more ranks. All ranks
/// call it. Throws `fault::usage`, on all of them, where `here` is empty on one or lists what is no GPU.
std::unique_ptr<communicator> with_gpus(communicator& c, const std::vector<device>& here,
                                        gpu_way through = gpu_way::best);

/// "gpu:all", "gpu:0,1", or one device as `parse_device` reads it. Throws as that, and `fault::usage` for more than
/// 256.
std::vector<device> parse_devices(std::string_view text);

/// The ranks of MPI: those of `comm`, which points to an `MPI_Comm` and is duplicated, or where it is null those of
/// MPI_COMM_WORLD. MPI is begun, and ended with this object, where the program has not done so itself. It comes from
/// the module libfurrow_mpi.so, which is loaded by this call and stands beside the program or the library, or where the
/// loader looks. Throws `fault::device`, with what is missing, where there is none. All ranks call it.
std::unique_ptr<communicator> open_mpi(const void* comm = nullptr);

/// How many ranks the starter of MPI programs (`mpirun`, `srun --mpi`) has begun, of which this process is one; 1 where
/// none did.
int ranks_begun();

} // namespace furrow
