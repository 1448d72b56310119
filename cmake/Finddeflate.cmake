# SPDX-License-Identifier: BSD-3-Clause
# libdeflate, which Debian ships without a CMake package of its own.
find_path(deflate_INCLUDE_DIR libdeflate.h)
find_library(deflate_LIBRARY NAMES deflate)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(deflate REQUIRED_VARS deflate_LIBRARY deflate_INCLUDE_DIR)
if(deflate_FOUND AND NOT TARGET deflate::deflate)
  add_library(deflate::deflate UNKNOWN IMPORTED)
  set_target_properties(deflate::deflate PROPERTIES IMPORTED_LOCATION ${deflate_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${deflate_INCLUDE_DIR})
endif()
mark_as_advanced(deflate_INCLUDE_DIR deflate_LIBRARY)
