// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// The numbers of a spec NAME:A:B:..., checked against its usage line. Every failure is a `fault::usage` in one
/// sentence that shows the usage and an example.
class arguments {
public:
  /// `required` numbers, and one more where `usage` ends in [:SEED].
  arguments(std::string_view spec, std::string_view usage, std::string_view example);

  /// Argument k, a whole number of at least `least`.
  index_t whole(std::size_t k, index_t least = 1) const;
  /// Argument k, a finite number.
  double real(std::size_t k) const;
  /// The last argument where there is one more than needed; 0 otherwise.
  std::uint64_t seed() const;

  /// Throws "SPEC: why; usage ..." unless `ok`.
  void check_that(bool ok, const std::string& why) const;
  /// The product of the factors, which must be a number of rows that 32-bit indices can count.
  index_t rows(std::initializer_list<index_t> factors) const;

private:
  std::string spec_, usage_, example_;
  std::vector<std::string> words_;
  std::size_t required_ = 0;
};

} // namespace furrow
