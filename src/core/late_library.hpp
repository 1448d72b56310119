// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

/// A shared library that is opened when it is first needed: a build knows nothing of it, and a machine without it
/// misses nothing else. It stays open, since its code may run when the process ends.
struct late_library {
  void* handle = nullptr;     ///< null where it could not be opened
  std::filesystem::path file; ///< as it was opened
  /// Why it was not: "is not found where the loader looks, nor in A or B", or "cannot be loaded (" and what the loader
  /// says.
  std::string why;

  /// Whether it has the function `name`, which `to` points to then.
  template <class F> bool has(const char* name, F*& to) const {
    to = reinterpret_cast<F*>(address_of(name));
    return to != nullptr;
  }

private:
  void* address_of(const char* name) const;
};

/// The first of `names` that can be opened: each where the loader looks by itself, then in `folders`.
late_library open_late(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders);

/// The file that this library is, or is part of.
std::filesystem::path this_library();

/// Where NVIDIA's libraries may lie and the loader does not look: the folders of a CUDA toolkit, and, where the file
/// `own` is part of a Python package, lib of nvidia/cu13 and of nvidia/`package` beside that package, as pip installs
/// them.
std::vector<std::filesystem::path> cuda_folders(const std::string& package,
                                                const std::filesystem::path& own = this_library());

/// "where the loader looks, nor in A or B"
std::string places_text(const std::vector<std::filesystem::path>& folders);

} // namespace furrow
