# SPDX-License-Identifier: BSD-3-Clause
# FURROW_SLIM: three routines of LAPACK and what they call from its static library, below 0.16 MB. The shared one is 7.3 MB and needs
# gfortran's 3.2 MB; src/core/fortran.cpp has the two functions of gfortran and LAPACK that they would ask for it. BLAS stays
# shared: SuperLU needs it, too.
find_library(furrow_lapack_archive NAMES ${CMAKE_STATIC_LIBRARY_PREFIX}lapack${CMAKE_STATIC_LIBRARY_SUFFIX})
furrow_needs(BLAS libblas-dev)
if(NOT furrow_lapack_archive)
  message(FATAL_ERROR "FURROW_SLIM takes LAPACK's routines from liblapack.a, which was not found: run ${furrow_setup}, or install what Debian calls liblapack-dev, or say -DFURROW_SLIM=OFF")
endif()
set(furrow_lapack ${furrow_lapack_archive} BLAS::BLAS)

# Leads a target's calls of functions that got a new version since glibc 2.34 and GCC 11 to the older one.
function(furrow_older_symbols target)
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64") # versions are numbered from another one there
    return()
  endif()
  if(NOT TARGET furrow_older)
    add_library(furrow_older OBJECT ${PROJECT_SOURCE_DIR}/cmake/older_symbols.cpp)
    set_target_properties(furrow_older PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:furrow_older>)
  target_link_options(${target} PRIVATE
    LINKER:--wrap=hypot,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
endfunction()
