// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/coo.hpp>
#include <furrow/solve.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace furrow {

/// Which system it is: its sizes, and a number each from all entries of A and all elements of b. A change of any of
/// them changes the number but by an accident of 1 in 2^64.
struct system_fingerprint {
  index_t rows = 0, cols = 0, entries = 0;
  std::uint64_t matrix = 0, rhs = 0;

  friend bool operator==(const system_fingerprint&, const system_fingerprint&) = default;
};

/// A sum, modulo 2^64, of a mix of the bits of row, column and value over the entries that are not 0, and of the same
/// over b: no order of entries and no cut among ranks changes it. Parallel, one pass over A and b. Throws
/// `fault::usage` for a b without an element a row.
template <class V> system_fingerprint fingerprint(const coo<V>& a, cview<V> b);
/// The same of a system in parts, as `solver_on_ranks` takes it: the rows of this rank, numbered from 0 on, and their
/// elements of b. All ranks call it and get the same.
template <class V> system_fingerprint fingerprint(communicator& c, const coo<V>& rows, cview<V> b);

/// Where a solve stood. x is all that it takes to go on: a Krylov method begins anew from it, so that the steps after a
/// resume are not those that an uninterrupted run would have made; the answer is held to the same goal.
struct checkpoint {
  system_fingerprint system{};
  std::string solver{}, precond{}; ///< that were asked for, up to 63 letters of each
  index_t iterations = 0;          ///< so far, in all runs that led here together
  double seconds = 0;              ///< of solving, the same
  double relative_residual = 0;
  host_array<double> x{};
};

/// Writes `now` with this x in place of its own: header, fingerprint, x and checksums over both, little-endian; beside
/// the target first and renamed, when it is on the disk, so that there is the last one or this one under the name and
/// never a part, also when the process is killed. Throws `fault::input`, "FILE: ...", where the system refuses, and
/// `fault::usage` for numbers below 0.
void write_checkpoint(const checkpoint& now, cview<double> x, const std::filesystem::path& file);

/// Throws `fault::input`, "FILE: ...", for a file that is no checkpoint, of another version, cut short, or damaged in
/// any byte, and `fault::memory` before taking memory that cannot be had.
checkpoint read_checkpoint(const std::filesystem::path& file);

/// The same on ranks: each gives its part of x, in their order, and puts it at its place in the one file; no rank has
/// all of x. `now` and `file`: rank 0's. All ranks call it. Throws, and returns a sentence, as `write_vector_on_ranks`.
std::string write_checkpoint_on_ranks(communicator& c, const checkpoint& now, cview<double> mine,
                                      const std::filesystem::path& file);

/// `read_checkpoint` and `check_is_of` on ranks: `x` of what each gets is its part of `size` elements; rank 0 reads and
/// sends batches of 8 MB. `file` and `system`: rank 0's. All ranks call it. Throws the same on all of them, and
/// `fault::usage` where the parts are not as long as the whole.
checkpoint read_checkpoint_on_ranks(communicator& c, const std::filesystem::path& file,
                                    const system_fingerprint& system, index_t size);

/// Throws `fault::input` with one sentence that says what differs where it is a checkpoint of another system.
void check_is_of(const checkpoint& saved, const system_fingerprint& system, const std::filesystem::path& file);

/// Keeps checkpoints of a running solve in a file, each in the place of the last one.
///
///   checkpoint_keeper keeper("run.furrowck", 60, {.system = fingerprint<double>(a, b), .solver = "cg"});
///   keeper.watch(options);                     // on ranks: the first one alone
///   const auto report = solve<double>(a, b, x, options);
///   keeper.finish(report, x);                  // where it ended
///
/// A method that knows its x between steps brings it every `every` seconds, at the end of a chunk of steps (a twentieth
/// of a second). `direct` has none before it ends. Costs three copies of x and its way to the disk each time, while the
/// solve waits; on ranks three of its part on each, and x whole on none but where the first one solves alone.
class checkpoint_keeper {
public:
  /// `from`: fingerprint and names, and where it is a resumed solve iterations and seconds so far. x is not kept.
  /// Throws `fault::input` where `file` is there and is no checkpoint: nothing else is replaced.
  checkpoint_keeper(std::filesystem::path file, double every, checkpoint from);
  checkpoint_keeper(const checkpoint_keeper&) = delete;

  /// Becomes the monitor of `o`. The one that it had is asked after each checkpoint, and no more when its own
  /// `monitor_every` or `monitor_seconds` said: `solve_options::watch` is asked as before. Must outlive the solve.
  void watch(solve_options& o);
  /// The x that the solve handed back, however it ended; not one that is not finite.
  void finish(const solve_report& report, cview<double> x);
  /// The same of an x in parts, in the order of the ranks, which all call it. `keeper` and `report`: rank 0's. Returns
  /// the sentence of `write_checkpoint_on_ranks`.
  static std::string finish_on_ranks(communicator& c, checkpoint_keeper* keeper, const solve_report& report,
                                     cview<double> mine);

  /// Told of a file that cannot be written, while the solve goes on. Empty: it ends by that error.
  std::function<void(const error&)> failed;
  index_t written() const { return written_; } ///< checkpoints so far

private:
  friend struct checkpoint_monitor;
  checkpoint head(index_t iterations, double seconds, double residual) const; ///< of this run
  checkpoint head_of(const progress& p);
  checkpoint head_of(const solve_report& report) const;
  void keep(const checkpoint& now, cview<double> x);
  static std::string keep_on_ranks(communicator& c, checkpoint_keeper* keeper, const checkpoint& now,
                                   cview<double> mine);
  void cannot_write(const error& why);

  std::filesystem::path file_;
  double every_;
  const checkpoint from_;
  index_t ended_iterations_ = 0, iteration_ = 0, written_ = 0; ///< of rungs of "auto" that have ended, and of this one
  double ended_seconds_ = 0, seconds_ = 0;                     ///< the same
};

} // namespace furrow
