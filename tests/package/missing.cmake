# SPDX-License-Identifier: BSD-3-Clause
# Configures SOURCE below WORK as if one package after the other were missing: each time CMake's last word names it, and what to do.
file(REMOVE_RECURSE ${WORK})
function(expect sentence)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CXX ${ARGN} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT failed OR NOT said MATCHES "${sentence}")
    message(FATAL_ERROR "in place of '${sentence}' CMake says: ${said}")
  endif()
  file(REMOVE ${WORK}/CMakeCache.txt)
endfunction()
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G ${GENERATOR} -DFURROW_GPU=OFF -DFURROW_TESTS=OFF)
foreach(missing IN ITEMS fmt:libfmt-dev deflate:libdeflate-dev ZLIB:zlib1g-dev BZip2:libbz2-dev LibLZMA:liblzma-dev zstd:libzstd-dev
    LAPACK:liblapack-dev CLI11:libcli11-dev nlohmann_json:nlohmann-json3-dev)
  string(REPLACE ":" ";" missing ${missing})
  list(GET missing 0 package)
  list(GET missing 1 debian)
  expect("${package} was not found: run scripts/setup.sh, or install what Debian calls ${debian}"
    ${configure} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
expect("GTest was not found: run scripts/setup.sh, or install what Debian calls libgtest-dev"
  ${configure} -DCMAKE_CXX_COMPILER=${COMPILER} -DFURROW_TESTS=ON -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON)
# As pip builds it.
set(as_pip ${configure} -DCMAKE_CXX_COMPILER=${COMPILER} -DSKBUILD=ON)
expect("fmt was not found: run scripts/setup.sh python, or" ${as_pip} -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON)
expect("superlu was not found: run scripts/setup.sh python, or install what Debian calls libsuperlu-dev"
  ${as_pip} -DCMAKE_DISABLE_FIND_PACKAGE_superlu=ON)
expect("BLAS was not found: run scripts/setup.sh python, or install what Debian calls libblas-dev"
  ${as_pip} -DFURROW_SLIM=ON -DCMAKE_DISABLE_FIND_PACKAGE_BLAS=ON)
expect("no ducc0/fft/fft1d_impl.h in .*: run scripts/setup.sh python, or" ${as_pip} -DFURROW_DUCC0_DIR=${WORK}/none)
expect("no C.. compiler was found .c.., g.., clang...: run scripts/setup.sh, or install what Debian calls g.."
  PATH=${WORK} ${configure})
expect("no C.. compiler was found .furrow-cxx.: run scripts/setup.sh," "CXX=furrow-cxx -O2" ${configure})
expect("with its headers was not found: run scripts/setup.sh python, or install what Debian calls python3-dev"
  ${configure} -DCMAKE_CXX_COMPILER=${COMPILER} -DFURROW_PYTHON=ON -DCMAKE_DISABLE_FIND_PACKAGE_Python=ON)
