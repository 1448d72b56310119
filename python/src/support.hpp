// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lock.hpp"

#include <furrow/array.hpp>
#include <furrow/error.hpp>
#include <furrow/view.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

/// What the border is made of: arrays of Python as views, the interpreter's lock, Ctrl-C.
namespace furrow::python {

namespace nb = nanobind;

/// The name of a file, of furrow/_files.py.
inline std::string file_of(const nb::bytes& name) { return {name.c_str(), name.size()}; }

/// Letters of the struct module for T, in the machine's byte order.
template <class T> constexpr std::string_view letters = "";
template <> inline constexpr std::string_view letters<double> = "d";
template <> inline constexpr std::string_view letters<float> = "f";
template <> inline constexpr std::string_view letters<std::int32_t> = "i";
template <> inline constexpr std::string_view letters<std::int64_t> = "lq";

/// A contiguous vector in the memory of a GPU, of an array of Python's.
struct gpu_vector {
  std::uintptr_t data;
  index_t size;
  char letter;
  nb::object owner; ///< the array, whose memory it is
};

/// A contiguous array of the caller, held for as long as this lives, or a `gpu_vector`. Made and ended with the
/// interpreter's lock held. furrow/_arrays.py has seen to type, order and size: what does not fit here is a fault of
/// the package.
class buffer {
public:
  buffer(nb::handle array, bool writable) {
    const int wish = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array.ptr(), &raw_, wish) == 0) return;
    if (!nb::isinstance<gpu_vector>(array)) throw nb::python_error();
    PyErr_Clear();
    raw_ = {};
    there_ = *nb::inst_ptr<gpu_vector>(array);
  }
  /// Empty, without an exception, for what is no array in host memory.
  explicit buffer(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &raw_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) return;
    PyErr_Clear();
    raw_ = {};
  }
  buffer(buffer&& other) noexcept : raw_(std::exchange(other.raw_, {})), there_(std::move(other.there_)) {}
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  buffer& operator=(buffer&&) = delete;
  ~buffer() {
    if (raw_.obj) PyBuffer_Release(&raw_);
  }

  template <class T> bool holds() const {
    if (is_on_gpu()) return letters<T>.find(there_.letter) != std::string_view::npos;
    return raw_.obj && raw_.format && std::strlen(raw_.format) == 1 &&
           letters<T>.find(raw_.format[0]) != std::string_view::npos;
  }
  bool is_on_gpu() const { return there_.letter != 0; }
  bool is_vector_of(index_t n) const { return raw_.ndim == 1 && raw_.shape[0] == n; }
  template <class T> cview<T> read() const { return {static_cast<const T*>(checked<T>()), count()}; }
  template <class T> view<T> write() const { return {static_cast<T*>(checked<T>()), count()}; }

private:
  index_t count() const { return is_on_gpu() ? there_.size : raw_.len / raw_.itemsize; }
  template <class T> void* checked() const {
    if (!holds<T>()) throw nb::type_error("an array of another type came to the border of the library");
    return is_on_gpu() ? reinterpret_cast<void*>(there_.data) : raw_.buf;
  }
  Py_buffer raw_{};
  gpu_vector there_{};
};

/// True on threads that `interruptible` started.
inline thread_local bool is_helper = false;

/// Deletes what holds objects of Python, for who need not hold the interpreter's lock. A helper, which may be there
/// when the interpreter ends and must not ask for the lock then, leaves it to the main thread, or to the end of the
/// process.
template <class T> void delete_with_lock(T* p) {
  if (!is_helper) {
    const with_lock lock;
    delete p;
    return;
  }
  const auto later = [](void* q) {
    delete static_cast<T*>(q);
    return 0;
  };
  Py_AddPendingCall(later, p);
}

/// Arrays that a view outlives the call with. Whoever drops the last one need not hold the interpreter's lock.
template <class... Buffers> std::shared_ptr<const void> keep(Buffers... buffers) {
  using kept = std::tuple<Buffers...>;
  return {new kept(std::move(buffers)...), [](kept* k) { delete_with_lock(k); }};
}

/// numpy.empty(n, dtype).
nb::object empty_array(index_t n, char letter);
template <class T> nb::object new_array(cview<T> values) {
  nb::object array = empty_array(values.size, letters<T>[0]);
  const buffer to(array, true);
  if (!values.empty()) host_memory::copy(to.write<T>().data, values.data, std::size_t(values.size) * sizeof(T));
  return array;
}

/// y <- what `f` says of x, elements of V: the function of furrow/_operators.py has made it fit. Takes the lock.
template <class V> void call_on_copy(const nb::object& f, cview<V> x, view<V> y) {
  const with_lock lock;
  const nb::object result = or_wait_for_the_end([&]() -> nb::object { return f(new_array(x)); });
  const buffer from(result, false);
  if (from.read<V>().size != y.size) throw nb::value_error("a function gave back a vector of another length");
  std::copy_n(from.read<V>().data, y.size, y.data);
}

/// The same on a GPU: `f` gets x and y where they lie, and enqueues on the current stream what writes y.
template <class V> void call_where_they_lie(const nb::object& f, cview<V> x, view<V> y) {
  const with_lock lock;
  const auto lent = [](const void* at, index_t size) {
    return gpu_vector{reinterpret_cast<std::uintptr_t>(at), size, letters<V>[0], nb::none()};
  };
  or_wait_for_the_end([&] { f(lent(x.data, x.size), lent(y.data, y.size)); });
}

/// f() on a thread of its own, without the interpreter's lock, while this one looks out for Ctrl-C, which raises within
/// 50 ms. `f` owns all that it uses: what was interrupted may go on to its end.
template <class F> auto interruptible(F f) {
  using result = decltype(f());
  const auto promise = std::make_shared<std::promise<result>>();
  auto future = promise->get_future();
  std::thread([promise, f = std::move(f)]() mutable {
    is_helper = true;
    try {
      promise->set_value(f());
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }).detach();
  for (;;) {
    {
      const without_lock unlocked;
      if (future.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return future.get();
}

void bind_matrix(nb::module_& m);
void bind_solver(nb::module_& m);
void bind_checkpoint(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_report(nb::module_& m);
void bind_inputs(nb::module_& m);
void bind_dense(nb::module_& m);
void bind_chebyshev(nb::module_& m);

} // namespace furrow::python
