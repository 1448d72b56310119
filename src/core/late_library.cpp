// SPDX-License-Identifier: BSD-3-Clause
#include "late_library.hpp"

#include <dlfcn.h>

namespace furrow {
namespace {

/// Opens it unless one is already; what the loader says of a file that is there goes to `said_of`.
void open_at(late_library& l, const std::filesystem::path& file, std::string& said_of) {
  if (l.handle) return;
  l.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (l.handle) {
    l.file = file;
    return;
  }
  const char* const said = dlerror(); // NOLINT(concurrency-mt-unsafe): glibc keeps one for each thread
  // A sentence that begins with the name of a file without a folder says that there is none.
  if (const std::string text = said ? said : ""; file.has_parent_path() || !text.starts_with(file.string()))
    said_of = text;
}

} // namespace

void* late_library::address_of(const char* name) const { return handle ? dlsym(handle, name) : nullptr; }

late_library open_late(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders) {
  late_library l;
  std::string said;
  std::error_code none;
  for (const std::string& name : names) {
    open_at(l, name, said);
    for (const auto& folder : folders)
      if (std::filesystem::exists(folder / name, none)) open_at(l, folder / name, said);
  }
  if (!l.handle) l.why = said.empty() ? "is not found " + places_text(folders) : "cannot be loaded (" + said + ")";
  return l;
}

std::filesystem::path this_library() {
  Dl_info here{};
  const bool known = dladdr(reinterpret_cast<const void*>(&this_library), &here) != 0 && here.dli_fname;
  return known ? here.dli_fname : "";
}

std::vector<std::filesystem::path> cuda_folders(const std::string& package, const std::filesystem::path& own) {
  std::vector<std::filesystem::path> all{"/usr/local/cuda/lib64", "/usr/local/cuda/lib"};
  std::error_code none;
  if (std::filesystem::exists(own.parent_path() / "__init__.py", none)) {
    const auto nvidia = own.parent_path().parent_path() / "nvidia";
    for (const char* part : {"cu13", package.c_str()}) all.push_back(nvidia / part / "lib");
  }
  return all;
}

std::string places_text(const std::vector<std::filesystem::path>& folders) {
  std::string text = "where the loader looks";
  for (std::size_t k = 0; k < folders.size(); ++k)
    text += (k == 0 ? ", nor in " : k + 1 == folders.size() ? " or " : ", ") + folders[k].string();
  return text;
}

} // namespace furrow
