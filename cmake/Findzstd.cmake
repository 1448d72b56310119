# SPDX-License-Identifier: BSD-3-Clause
# libzstd, which Debian ships without a CMake package of its own.
find_path(zstd_INCLUDE_DIR zstd.h)
if(FURROW_SLIM) # what unpacks takes 0.10 MB of the static one, packed; all of the shared one 0.32
  find_library(zstd_LIBRARY NAMES ${CMAKE_STATIC_LIBRARY_PREFIX}zstd${CMAKE_STATIC_LIBRARY_SUFFIX})
endif()
find_library(zstd_LIBRARY NAMES zstd)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(zstd REQUIRED_VARS zstd_LIBRARY zstd_INCLUDE_DIR)
if(zstd_FOUND AND NOT TARGET zstd::zstd)
  add_library(zstd::zstd UNKNOWN IMPORTED)
  set_target_properties(zstd::zstd PROPERTIES IMPORTED_LOCATION ${zstd_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${zstd_INCLUDE_DIR})
endif()
mark_as_advanced(zstd_INCLUDE_DIR zstd_LIBRARY)
