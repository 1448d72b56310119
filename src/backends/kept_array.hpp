// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace furrow {

/// Elements in the memory of a GPU that several may hold, ours or a caller's; nobody writes them while somebody does.
template <class T> class kept_array {
public:
  kept_array() = default;
  explicit kept_array(gpu_array<T> own) {
    auto held = std::make_shared<const gpu_array<T>>(std::move(own));
    elements_ = as_cview(*held);
    owner_ = std::move(held);
  }
  /// The first `count` of its elements.
  kept_array(gpu_array<T> own, index_t count) : kept_array(std::move(own)) { elements_.size = count; }
  /// owner: empty where somebody else sees to it that they stay.
  kept_array(cview<T> lent, std::shared_ptr<const void> owner) : elements_(lent), owner_(std::move(owner)) {}

  const T* data() const { return elements_.data; }
  index_t size() const { return elements_.size; }
  bool empty() const { return elements_.empty(); }
  bool has_owner() const { return owner_ != nullptr || empty(); }
  std::size_t byte_count() const { return static_cast<std::size_t>(elements_.size) * sizeof(T); }
  friend cview<T> as_cview(const kept_array& a) { return a.elements_; }

private:
  cview<T> elements_{};
  std::shared_ptr<const void> owner_;
};

/// A copy in the memory of the current GPU.
template <class T> gpu_array<T> copy_of(const kept_array<T>& a) {
  gpu_array<T> copy(a.size());
  gpu_memory::copy(copy.data(), a.data(), a.byte_count());
  return copy;
}

/// The same elements, in a copy where they have no owner.
template <class T> kept_array<T> owned(const kept_array<T>& a) { return a.has_owner() ? a : kept_array<T>(copy_of(a)); }

/// A copy in host memory. Waits.
template <class T> host_array<T> to_host(const kept_array<T>& a) {
  host_array<T> home(a.size());
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, a.data(), a.byte_count());
  return home;
}

} // namespace furrow
