// SPDX-License-Identifier: BSD-3-Clause
#include "cufft.hpp"

#include "core/check.hpp"
#include "core/late_library.hpp"

#include <fmt/format.h>

namespace furrow::chebyshev::cufft {

std::string library::version_text() const {
  return fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
}

search look_for(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders) {
  search s;
  const late_library from = open_late(names, folders);
  if (s.why = from.why; !from.handle) return s;
  library l;
  l.file = from.file;
  const bool whole = from.has("cufftGetVersion", l.get_version) && from.has("cufftCreate", l.create) &&
                     from.has("cufftDestroy", l.destroy) && from.has("cufftSetAutoAllocation", l.set_auto_allocation) &&
                     from.has("cufftMakePlanMany64", l.make_plan_many_64) &&
                     from.has("cufftSetWorkArea", l.set_work_area) && from.has("cufftSetStream", l.set_stream) &&
                     from.has("cufftExecZ2Z", l.exec_z2z) && from.has("cufftExecZ2D", l.exec_z2d);
  if (!whole || l.get_version(&l.version) != 0) s.why = "cannot be used (" + l.file.string() + " lacks functions)";
  else s.found = l;
  return s;
}

const search& searched() {
  static const search once = look_for({"libcufft.so.12", "libcufft.so.11"}, cuda_folders("cufft"));
  return once;
}

std::string sentence(const search& s) {
  return fmt::format(
      "a Fourier transform on a GPU needs cuFFT, libcufft.so.12 or libcufft.so.11, which {}: pip install "
      "nvidia-cufft has it; name its folder in LD_LIBRARY_PATH, or choose the algorithm direct",
      s.why);
}

const library& needed() {
  const search& s = searched();
  if (!s.found) throw error(fault::device, sentence(s));
  return *s.found;
}

void check(status s, const char* what) {
  furrow::check(s == 0, s == out_of_memory ? fault::memory : fault::device, "cuFFT failed to {} (code {})", what, s);
}

} // namespace furrow::chebyshev::cufft
