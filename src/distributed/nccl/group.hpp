// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ending.hpp"
#include "library.hpp"

#include "distributed/halo.hpp"

#include <mutex>
#include <vector>

namespace furrow::nccl {

/// The ranks of a communicator as NCCL knows them, each with a GPU that no other one has. What a rank enqueues here all
/// of them enqueue, in the same order. NCCL's codes become `fault::device` with NCCL's words.
///
/// Graphs that hold such work must end before it.
class group {
public:
  /// All ranks call it, each with its GPU chosen; the library must be there on all of them.
  group(const library& by, communicator& c);
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group();

  const library& by() const { return by_; }
  /// all[r * count + k] <- mine[k] of rank r, which may lie there already.
  void gather(const double* mine, double* all, std::size_t count, stream on);
  /// What a halo plan says, of packed elements: all of it at once.
  template <class V> void exchange(const halo_plan& plan, const V* packed, V* there, stream on);

  /// A sentence where NCCL has found an error by itself, behind its calls; empty: none, or it cannot be asked now.
  std::string failure();
  /// Ends all that is enqueued and running, and everything: from any thread. Waits until the graphs that hold its work
  /// have ended. Whoever enqueues then gets an exception.
  void abort() noexcept;

private:
  void must(result code, const char* what) const;
  handle used() const; ///< throws where it has been aborted

  const library& by_;
  std::timed_mutex busy_; ///< `handle_`, and calls with it
  handle handle_ = nullptr;
};

} // namespace furrow::nccl
