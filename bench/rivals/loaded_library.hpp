// SPDX-License-Identifier: BSD-3-Clause
// A library that is looked for when the program runs.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

namespace furrow::bench {

/// The first file that the loader finds: the one that the variable `named_by` of the environment names, then `files`.
class loaded_library {
public:
  loaded_library(const char* named_by, std::initializer_list<const char*> files) {
    if (const char* const named = std::getenv(named_by)) handle_ = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    for (const char* const file : files)
      if (!handle_) handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }

  /// Sets `function` to what the library calls `name`, null where it has none. Says whether it has.
  template <class F> bool find(const char* name, F& function) const {
    function = handle_ ? reinterpret_cast<F>(dlsym(handle_, name)) : nullptr;
    return function != nullptr;
  }

private:
  void* handle_ = nullptr;
};

} // namespace furrow::bench
