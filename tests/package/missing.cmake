# SPDX-License-Identifier: BSD-3-Clause
# Configures SOURCE below WORK as if one package after the other were missing: each time CMake's last word names it, and what to do.
file(REMOVE_RECURSE ${WORK})
foreach(missing IN ITEMS fmt:libfmt-dev zstd:libzstd-dev LAPACK:liblapack-dev CLI11:libcli11-dev)
  string(REPLACE ":" ";" missing ${missing})
  list(GET missing 0 package)
  list(GET missing 1 debian)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DFURROW_GPU=OFF
      -DFURROW_TESTS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT failed OR NOT said MATCHES "${package} was not found: run scripts/setup.sh, or install what Debian calls ${debian}")
    message(FATAL_ERROR "without ${package} CMake says: ${said}")
  endif()
  file(REMOVE ${WORK}/CMakeCache.txt)
endforeach()
