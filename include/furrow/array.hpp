// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>
#include <furrow/view.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace furrow {

/// Memory of the host: 64-byte aligned, large blocks in huge pages where the system has them, never touched here.
struct host_memory {
  static void* allocate(std::size_t bytes);
  static void release(void* data, std::size_t bytes) noexcept;
  static void copy(void* to, const void* from, std::size_t bytes);
};

/// Memory of the current GPU, ordered by the GPU's queue: a block is used only by work enqueued after its
/// allocation. A call in a build or on a machine without a GPU throws `fault::device`.
struct gpu_memory {
  static void* allocate(std::size_t bytes);
  static void release(void* data, std::size_t bytes) noexcept;
  static void copy(void* to, const void* from, std::size_t bytes);
};

/// Copies between the memories. Downloads wait until the bytes are there.
void copy_bytes(host_memory, void* to, gpu_memory, const void* from, std::size_t bytes);
void copy_bytes(gpu_memory, void* to, host_memory, const void* from, std::size_t bytes);
inline void copy_bytes(host_memory, void* to, host_memory, const void* from, std::size_t bytes) {
  host_memory::copy(to, from, bytes);
}
inline void copy_bytes(gpu_memory, void* to, gpu_memory, const void* from, std::size_t bytes) {
  gpu_memory::copy(to, from, bytes);
}

/// `count` elements of `size` bytes each become `value`, which lies in host memory. On a GPU the call only enqueues,
/// but for elements that are not 1, 2, 4, 8 or 16 bytes large, which are copied from the host.
void fill_elements(gpu_memory, void* data, const void* value, std::size_t size, index_t count);

/// Bytes of `count` elements of `size` bytes; throws `fault::usage` for a count below zero, `fault::memory` where the
/// product does not fit 63 bits.
std::size_t checked_bytes(index_t count, std::size_t size);

/// A vector that owns memory of one kind. `array(n)` is uninitialised, so that the threads that use it touch it first.
/// Copies are deep, moves cost nothing and leave an empty array behind.
template <class T, class Memory> class basic_array {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  using value_type = T;

  basic_array() = default;
  explicit basic_array(index_t n) : data_(take(n)), size_(n), capacity_(n) {}
  basic_array(index_t n, T value) : basic_array(n) {
    if constexpr (std::is_same_v<Memory, host_memory>) std::fill_n(data_, n, value);
    else fill_elements(Memory{}, data_, &value, sizeof value, n);
  }
  basic_array(std::initializer_list<T> values) requires std::is_same_v<Memory, host_memory>
      : basic_array(static_cast<index_t>(values.size())) {
    std::copy(values.begin(), values.end(), data_);
  }

  basic_array(const basic_array& other) : basic_array(other.size_) { copy_from(other); }
  /// From an array in another memory.
  template <class Other> explicit basic_array(const basic_array<T, Other>& other) : basic_array(other.size()) {
    copy_bytes(Memory{}, data_, Other{}, other.data(), byte_count());
  }
  basic_array(basic_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  basic_array& operator=(const basic_array& other) {
    if (this != &other) {
      resize(other.size_);
      copy_from(other);
    }
    return *this;
  }
  basic_array& operator=(basic_array&& other) noexcept {
    basic_array taken(std::move(other)); // empties `other`, which may be *this
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    std::swap(capacity_, taken.capacity_);
    return *this;
  }
  ~basic_array() { drop(data_, capacity_); }

  /// `n` elements of unspecified value. Keeps the memory where it is large enough, does not keep the data otherwise.
  void resize(index_t n) {
    if (!fits(n)) *this = basic_array(n);
    size_ = n;
  }
  /// `n` elements, of which the first min(n, size()) keep their values and the others are unspecified.
  void extend(index_t n) {
    if (!fits(n)) {
      basic_array larger(n);
      Memory::copy(larger.data_, data_, byte_count());
      *this = std::move(larger);
    }
    size_ = n;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  index_t size() const { return size_; }
  index_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::size_t byte_count() const { return static_cast<std::size_t>(size_) * sizeof(T); }

  T& operator[](index_t i) requires std::is_same_v<Memory, host_memory> { return data_[i]; }
  const T& operator[](index_t i) const requires std::is_same_v<Memory, host_memory> { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

private:
  bool fits(index_t n) const { return 0 <= n && n <= capacity_; } // a size below zero is refused where memory is taken
  static T* take(index_t n) {
    const std::size_t bytes = checked_bytes(n, sizeof(T));
    return bytes ? static_cast<T*>(Memory::allocate(bytes)) : nullptr;
  }
  static void drop(T* data, index_t capacity) noexcept {
    if (data) Memory::release(data, static_cast<std::size_t>(capacity) * sizeof(T));
  }
  void copy_from(const basic_array& other) {
    if (size_) Memory::copy(data_, other.data_, byte_count());
  }

  T* data_ = nullptr;
  index_t size_ = 0, capacity_ = 0;
};

template <class T> using host_array = basic_array<T, host_memory>;
template <class T> using gpu_array = basic_array<T, gpu_memory>;

template <class T, class Memory> view<T> as_view(basic_array<T, Memory>& a) { return {a.data(), a.size()}; }
template <class T, class Memory> cview<T> as_cview(const basic_array<T, Memory>& a) { return {a.data(), a.size()}; }
template <class T> cview<T> as_cview(view<T> a) { return a; }
template <class T> cview<T> as_cview(cview<T> a) { return a; }

} // namespace furrow
