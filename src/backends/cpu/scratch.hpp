// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <memory>
#include <new>
#include <type_traits>

#include <pthread.h>

namespace furrow::cpu {

/// `count` numbers of the calling thread, uninitialised, good until it asks for this `Use` again: what a product keeps
/// beside its vectors. In place of a member of the operator, so that one operator serves several threads at once.
/// The end of a thread frees them by a key of its own: where memory is short, glibc ends the process as it notes that a
/// thread_local object has a destructor.
template <class T, class Use> T* scratch(index_t count) {
  static_assert(std::is_trivially_destructible_v<T>);
  thread_local T* kept = nullptr;
  thread_local index_t room = 0;
  if (count <= room) return kept;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (pthread_key_create(&made, [](void* of_thread) { delete[] static_cast<T*>(of_thread); }) != 0)
      throw std::bad_alloc();
    return made;
  }();
  auto more = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count));
  if (pthread_setspecific(key, more.get()) != 0) throw std::bad_alloc();
  delete[] kept;
  kept = more.release();
  room = count;
  return kept;
}

} // namespace furrow::cpu
