// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/entry.hpp"

#include <furrow/array.hpp>
#include <furrow/formats.hpp>

#include <optional>
#include <string>
#include <utility>

namespace furrow {

/// The format that `auto` takes, on `where`, which is selected.
template <class V> std::unique_ptr<any_operator<V>> in_best_format(coo<V> a, device where) {
  const choice c = choose(measure(a), precision_of<V>, where, {});
  return c.format->backend(where).template make<V>()(std::move(a), c.parameters, c.kernel);
}

/// M as a matrix, for who applies it by other means.
template <class V> struct known_matrix {
  virtual ~known_matrix() = default;
  virtual bool is_known() const = 0;
  /// Of what is known, in the order of its format, whose zeros may be among them.
  virtual coo<V> entries() const = 0;
};

/// M = F or M = G F, square matrices in formats of their own on any device. An application is a product with each; it
/// takes no memory. One application at a time.
template <class V, class Array> class stored_product final : public any_preconditioner<V>, public known_matrix<V> {
public:
  stored_product(std::unique_ptr<any_operator<V>> first, std::unique_ptr<any_operator<V>> second, std::string about)
      : first_(std::move(first)), second_(std::move(second)), about_(std::move(about)),
        between_(second_ ? first_->shape().rows : 0) {}
  void apply(cview<V> r, view<V> z) const override {
    if (!second_) return first_->apply(V(1), r, V(0), z);
    first_->apply(V(1), r, V(0), as_view(between_));
    second_->apply(V(1), as_cview(between_), V(0), z);
  }
  double stored_bytes() const override {
    return first_->stored_bytes() + (second_ ? second_->stored_bytes() : 0) + double(between_.byte_count());
  }
  std::string describe() const override { return about_; }
  bool is_known() const override { return !second_; }
  coo<V> entries() const override { return *first_->to_triplets(); }

private:
  std::unique_ptr<any_operator<V>> first_, second_; ///< the second one may be missing
  std::string about_;
  mutable Array between_;
};

template <class V>
std::unique_ptr<any_preconditioner<V>> make_stored_product(coo<V> first, std::optional<coo<V>> second, device where,
                                                           std::string about) {
  auto f = in_best_format(std::move(first), where);
  std::unique_ptr<any_operator<V>> g;
  if (second) g = in_best_format(std::move(*second), where);
  if (where.is_gpu())
    return std::make_unique<stored_product<V, gpu_array<V>>>(std::move(f), std::move(g), std::move(about));
  return std::make_unique<stored_product<V, host_array<V>>>(std::move(f), std::move(g), std::move(about));
}

} // namespace furrow
