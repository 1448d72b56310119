// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/host_room.hpp"

#include <furrow/view.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace furrow::lu {

/// What arrays that grow may take together.
class growth_budget {
public:
  explicit growth_budget(host_room room) : room_(room) {}
  bool has(double bytes) { return room_.takes(taken_ + bytes); }
  /// Throws std::bad_alloc beyond.
  void take(double bytes) {
    if (!has(bytes)) throw std::bad_alloc();
    taken_ += bytes;
  }

private:
  host_room room_;
  double taken_ = 0;
};

/// Plain numbers of which there will be so many as there will be. New ones hold anything: nobody writes them twice, and
/// pages that are reserved for nothing are never touched.
template <class T> class growing {
  static_assert(std::is_trivially_copyable_v<T>);
  struct to_free {
    void operator()(T* p) const { std::free(p); }
  };

public:
  growing(growth_budget& budget, index_t expected) : budget_(&budget) { reserve(std::max<index_t>(expected, 16)); }

  index_t size() const { return size_; }
  const T* data() const { return data_.get(); }
  T* data() { return data_.get(); }
  T& operator[](index_t i) { return data_.get()[i]; }
  T operator[](index_t i) const { return data_.get()[i]; }
  /// Whether the budget has so many new ones.
  bool may_add(index_t count) const {
    return size_ + count <= capacity_ || budget_->has(double(sizeof(T)) * double(more_for(count) - capacity_));
  }
  /// The first of so many new ones.
  T* add(index_t count) {
    if (size_ + count > capacity_) reserve(more_for(count));
    size_ += count;
    return data_.get() + (size_ - count);
  }
  void push(T v) { *add(1) = v; }

private:
  index_t more_for(index_t count) const { return std::max(size_ + count, capacity_ + capacity_ / 2); }
  void reserve(index_t capacity) {
    budget_->take(double(sizeof(T)) * double(capacity - capacity_));
    void* const moved = std::realloc(static_cast<void*>(data_.get()), sizeof(T) * static_cast<std::size_t>(capacity));
    if (!moved) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(moved));
    capacity_ = capacity;
  }

  growth_budget* budget_;
  std::unique_ptr<T, to_free> data_;
  index_t size_ = 0, capacity_ = 0;
};

} // namespace furrow::lu
