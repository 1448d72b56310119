// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <nanobind/nanobind.h>

#include <cxxabi.h>
#include <unistd.h>

/// The interpreter's lock.
namespace furrow::python {

/// f(), which may ask for the lock. Up to 3.13 Python ends a daemon thread that asks when the interpreter has ended, by
/// pthread_exit: its unwinding ends the process where it meets a destructor or a noexcept function ("terminate called
/// without an active exception", a core dump). The thread waits for the end of the process instead, as with 3.14.
template <class F> decltype(auto) or_wait_for_the_end(F f) {
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

class with_lock {
public:
  with_lock() : state_(or_wait_for_the_end([] { return PyGILState_Ensure(); })) {}
  with_lock(const with_lock&) = delete;
  ~with_lock() { PyGILState_Release(state_); }

private:
  PyGILState_STATE state_;
};

class without_lock {
public:
  without_lock() : kept_(PyEval_SaveThread()) {}
  without_lock(const without_lock&) = delete;
  ~without_lock() {
    or_wait_for_the_end([&] { PyEval_RestoreThread(kept_); });
  }

private:
  PyThreadState* kept_;
};

} // namespace furrow::python
