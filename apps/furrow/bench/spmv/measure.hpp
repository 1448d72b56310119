// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tune/steady.hpp"

#include <furrow/formats.hpp>
#include <furrow/stats.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace furrow::cli::spmv_bench {

/// A format by name ("csr", "sell:8:64"), "auto" or "all"; a kernel by name, "auto" or "all".
struct wish {
  std::string format, kernel;
};

/// What to measure of every matrix, and how.
struct plan {
  device where;
  std::vector<precision> precisions;
  std::vector<wish> wishes;
  endurance how;
  bool check = false, rivals = true;
  bool tune = false;  ///< ask `furrow::tune` too
  index_t copies = 1; ///< of a matrix on the diagonal of the one that is measured
  int turns = 1;      ///< over all that is measured of a matrix; the fastest turn of each counts
  std::function<double(double bytes)> ceiling{}; ///< bytes a second at which as many bytes are read at best
  bool cold = false;                             ///< caches are flushed before every sample
};

/// One way of doing y = A x, measured.
struct product {
  std::string library, format, kernel; ///< library "furrow", or a rival and its way as the format
  precision values = precision::f64;
  timing time;
  double setup = 0;                ///< seconds from triplets in host memory to an operator on the device
  double bytes = 0;                ///< of a product: the stored matrix, y, and of x what is read
  double ceiling = 0;              ///< bytes a second at which as many bytes are read at best; NaN: not measured
  std::string_view lies_in{};      ///< the cache, or memory, that these bytes come from
  double places = 0;               ///< values stored, padding included; 0: not known of a rival
  double longest = 0;              ///< entries of the longest row as it is stored
  std::optional<double> row_error; ///< in units of the rounding bound
  bool chosen = false;             ///< by "auto"
  bool tuned = false;              ///< by measuring, as --tune does
  int turns = 0;                   ///< that it has been measured

  bool ours() const { return library == "furrow"; }
  double gflops(index_t nnz) const { return 2e-9 * double(nnz) / time.median; }
  double gbps() const { return 1e-9 * bytes / time.median; }
  double fraction() const { return 1e9 * gbps() / ceiling; }
};

struct left_out {
  std::string library, format, kernel;
  precision values = precision::f64;
  std::string why;
};

/// A matrix and all that was measured of it.
struct outcome {
  std::string name, file;
  stats s; ///< without the length of each row
  double read_seconds = 0;
  std::vector<product> products;
  std::vector<left_out> skipped;

  /// The fastest of ours; null where there is none.
  const product* best(precision p) const;
  const product* chosen(precision p) const;
  const product* tuned(precision p) const;
  /// The fastest kernel of a format or of a rival's way.
  const product* fastest(precision p, const std::string& library, const std::string& format) const;
};

/// Called as things happen.
struct listener {
  std::function<void(const outcome&)> loaded;
  std::function<void(const outcome&, const product&)> measured;
  std::function<void(const left_out&)> skipped;
};

/// Reads `file` (or generates it) and measures it. What does not serve the matrix is left out, with the reason. Every
/// operator is gone before the next one is made. Throws `furrow::error` where the matrix as such is at fault.
outcome measure_matrix(const std::string& file, const plan& p, const listener& l);

/// Throws `fault::usage` where a wish names what does not exist.
void check_wishes(const std::vector<wish>& wishes);

inline const char* name_of(precision p) { return p == precision::f64 ? "f64" : "f32"; }

} // namespace furrow::cli::spmv_bench
