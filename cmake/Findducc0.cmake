# SPDX-License-Identifier: BSD-3-Clause
# ducc0's headers for transforms, which only come with its source package; scripts/setup.sh puts them into build/packages.
set(FURROW_DUCC0_DIR "" CACHE PATH "Folder with ducc0/fft/fft1d_impl.h. Empty: where scripts/setup.sh put it")
if(FURROW_DUCC0_DIR)
  set(ducc0_INCLUDE_DIR ${FURROW_DUCC0_DIR})
else()
  set(ducc0_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/build/packages/ducc0)
endif()
if(NOT EXISTS ${ducc0_INCLUDE_DIR}/ducc0/fft/fft1d_impl.h)
  message(FATAL_ERROR "no ducc0/fft/fft1d_impl.h in ${ducc0_INCLUDE_DIR}: run ${furrow_setup}, "
    "or name the folder src of the source package of ducc0 0.42 by -DFURROW_DUCC0_DIR=")
endif()
set(ducc0_FOUND TRUE)
