# SPDX-License-Identifier: BSD-3-Clause
# FURROW_SLIM: seven routines of LAPACK and what they call from its static library, 0.16 MB. The shared one is 7.3 MB and needs
# gfortran's 3.2 MB; src/core/fortran.cpp has the two functions of gfortran and LAPACK that they would ask for it. BLAS stays
# shared: SuperLU needs it, too.
find_library(furrow_lapack_archive NAMES ${CMAKE_STATIC_LIBRARY_PREFIX}lapack${CMAKE_STATIC_LIBRARY_SUFFIX})
furrow_needs(BLAS libblas-dev)
if(NOT furrow_lapack_archive)
  message(FATAL_ERROR "FURROW_SLIM takes LAPACK's routines from liblapack.a, which was not found: install it (Debian: liblapack-dev), or say -DFURROW_SLIM=OFF")
endif()
set(furrow_lapack ${furrow_lapack_archive} BLAS::BLAS)
