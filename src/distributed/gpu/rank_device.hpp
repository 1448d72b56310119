// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/operator.hpp"

#include <furrow/communicator.hpp>

#include <memory>
#include <string>

namespace furrow {

namespace gpu {
class link;
}

/// The GPU of a rank: a queue of its own there, and the way to the GPUs of the others. All ranks make it, use it and
/// end it together. For sources that know nothing of CUDA.
class rank_device {
public:
  /// What a rank has on processors: nothing. On a GPU throws `fault::device` in a build without a GPU part.
  static std::unique_ptr<rank_device> open(communicator& c);
  virtual ~rank_device() = default;

  /// While one lives this thread enqueues on the rank's queue.
  class scope {
  public:
    virtual ~scope() = default;
  };
  virtual std::unique_ptr<scope> enter() const = 0;

  virtual gpu::link& between() const = 0; ///< how it talks to those of the others
  virtual std::string way() const = 0;    ///< see `gpu::link`
  /// Throws `fault::device` where a rank has waited for another one in vain.
  virtual void check() const = 0;
  /// For a rank that fails: nobody waits for it any longer.
  virtual void leave() noexcept = 0;

  /// own: the rank's block, stored on its GPU; null where it has no rows.
  virtual std::unique_ptr<operator_of_rank<double>> make_operator(communicator& c, rows_of_rank<double>& rows,
                                                                  std::unique_ptr<any_operator<double>> own) = 0;
  virtual std::unique_ptr<operator_of_rank<float>> make_operator(communicator& c, rows_of_rank<float>& rows,
                                                                 std::unique_ptr<any_operator<float>> own) = 0;
};

} // namespace furrow
