# SPDX-License-Identifier: BSD-3-Clause
# SuperLU 5 or later as a shared library: its hooks for memory are defined anew, which a static one does not let.
find_path(superlu_INCLUDE_DIR slu_ddefs.h PATH_SUFFIXES superlu SuperLU)
find_library(superlu_LIBRARY NAMES ${CMAKE_SHARED_LIBRARY_PREFIX}superlu${CMAKE_SHARED_LIBRARY_SUFFIX})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(superlu REQUIRED_VARS superlu_LIBRARY superlu_INCLUDE_DIR)
if(superlu_FOUND AND NOT TARGET superlu::superlu)
  add_library(superlu::superlu UNKNOWN IMPORTED)
  set_target_properties(superlu::superlu PROPERTIES IMPORTED_LOCATION ${superlu_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${superlu_INCLUDE_DIR})
endif()
mark_as_advanced(superlu_INCLUDE_DIR superlu_LIBRARY)
