# SPDX-License-Identifier: BSD-3-Clause
# What a person can choose, and what every target is compiled with.
set(FURROW_GPU AUTO CACHE STRING "Build the GPU part: AUTO (where nvcc is), ON or OFF")
set_property(CACHE FURROW_GPU PROPERTY STRINGS AUTO ON OFF)
set(FURROW_GPU_ARCHITECTURES "" CACHE STRING "GPU targets, e.g. 80;90. Empty: those of this machine, or 90 where it has none; with FURROW_SLIM 80 to 120")
option(FURROW_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(FURROW_BENCH "Build the benchmarks; rivals that are found join in" OFF)
option(FURROW_FUZZ "Build the fuzzers of the readers, with clang" OFF)
set(FURROW_PYTHON AUTO CACHE STRING "Build the Python package: AUTO (with the tests, where scripts/setup.sh python has been), ON or OFF")
set_property(CACHE FURROW_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(FURROW_MPI AUTO CACHE STRING "Build the module for ranks of MPI: AUTO (where MPI is), ON or OFF")
set_property(CACHE FURROW_MPI PROPERTY STRINGS AUTO ON OFF)
set(FURROW_PYTHON_VENV ${PROJECT_SOURCE_DIR}/build/venv CACHE PATH "Virtual environment with what python/requirements.txt lists")
# By the compilers that CI has: what others warn of, and what an optimiser of theirs imagines, must not stop anybody's build.
set(furrow_werror OFF)
if(PROJECT_IS_TOP_LEVEL AND "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 14)\\.")
  set(furrow_werror ON)
endif()
option(FURROW_WERROR "Warnings are errors" ${furrow_werror})
option(FURROW_UNITY "Compile several sources together, in C++ and in CUDA: faster from nothing, slower after a small change" OFF)
option(FURROW_SLIM "For a file that is carried to other machines: LAPACK's routines from its static library, without gfortran; GPU code for several targets, packed" OFF)
set(FURROW_SANITIZED "" CACHE STRING "Sanitizers, e.g. address,undefined, with which the library, the command and the Python module are built once more and tested")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(furrow_warnings INTERFACE)
target_compile_options(furrow_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow=local -Wconversion -Wno-sign-conversion -fopenmp-simd>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${FURROW_WERROR}>>:-Werror>
  # g++ 12 finds strings of negative size in std::string (its bugs 105329, 105651), and others whenever inlining changes.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${FURROW_WERROR}>>:--Werror=all-warnings>)
# Hardening, within the noise of solve, reading and products: canaries on the stack, calls of the C library that know their sizes, programs at
# an address of their own whose tables are read-only from the start.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported()
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>")
add_link_options(LINKER:-z,relro,-z,now)
# No folder of the machine that builds shows in a program or in what it says.
foreach(folder IN ITEMS ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${folder}/=>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffile-prefix-map=${folder}/=>)
endforeach()

# The headers that most sources of TARGET include, read once. Every source still includes what it uses: linting builds
# with CMAKE_DISABLE_PRECOMPILE_HEADERS.
function(furrow_precompiled target)
  list(TRANSFORM ARGN REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:\\0>")
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# Joined sources of TARGET are to g++ as headers are, and what is nameless there is as it should be.
function(furrow_names_of_folders target)
  if(FURROW_UNITY)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

if(FURROW_SANITIZED)
  # Loops that are compiled for each instruction set run in one alone: the widest of this machine (half of the time).
  include(CheckCXXSourceRuns)
  check_cxx_source_runs("int main() { return !(__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\")
    && __builtin_cpu_supports(\"bmi2\")); }" furrow_runs_avx2)
  check_cxx_source_runs("int main() { return !(__builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512vl\")
    && __builtin_cpu_supports(\"avx512dq\") && __builtin_cpu_supports(\"avx512bw\")); }" furrow_runs_avx512)
  set(furrow_isa 16)
  if(furrow_runs_avx2 AND furrow_runs_avx512)
    set(furrow_isa 64)
  elseif(furrow_runs_avx2)
    set(furrow_isa 32)
  endif()
endif()

# What programs with sanitizers are tested in. What is undefined ends in an instruction that does not exist, of which
# AddressSanitizer tells the function and the line; it keeps four callers of each allocation, a tenth of the tests' time less than 30.
set(furrow_sanitizer_environment ASAN_OPTIONS=exitcode=99:handle_sigill=1:malloc_context_size=4
  UBSAN_OPTIONS=print_stacktrace=1:exitcode=99 CUDA_VISIBLE_DEVICES=)

# Compiles TARGET with the sanitizers in place of hardening, which they do better, and optimised by LEVEL; what it is linked into has them too.
function(furrow_with_sanitizers target level)
  set(options ${level} -g1 -UNDEBUG -U_FORTIFY_SOURCE -fno-stack-protector -fsanitize=${FURROW_SANITIZED} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  if(FURROW_SANITIZED MATCHES "address") # which stops at the access itself: a fifth of the compiler's time for a second word
    # and calls of UBSan's own library, with what they say, take another
    list(APPEND options -fno-sanitize=null,object-size,vptr -fsanitize-undefined-trap-on-error)
  endif()
  list(TRANSFORM options REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:\\0>")
  target_compile_options(${target} PRIVATE ${options})
  target_compile_definitions(${target} PRIVATE FURROW_ONE_ISA=${furrow_isa})
  target_link_options(${target} PUBLIC -fsanitize=${FURROW_SANITIZED})
endfunction()
