# SPDX-License-Identifier: BSD-3-Clause
# One folder per thing. A folder of src/formats, src/solvers, src/preconditioners, apps/furrow or apps/furrow/bench is
# an entry of the table of its kind: adding one touches no other file.
set(furrow_generated ${CMAKE_BINARY_DIR}/generated)

# Writes generated/KIND.inc with one line FURROW_ENTRY(NAME) for every folder below DIR, and lists the folders in OUT.
function(furrow_table kind dir out)
  file(GLOB names RELATIVE ${dir} CONFIGURE_DEPENDS ${dir}/*)
  set(lines "")
  set(found "")
  foreach(name IN LISTS names)
    if(IS_DIRECTORY ${dir}/${name})
      string(APPEND lines "FURROW_ENTRY(${name})\n")
      list(APPEND found ${name})
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${furrow_generated}/${kind}.inc CONTENT "${lines}" @ONLY)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

set(src ${CMAKE_CURRENT_SOURCE_DIR}/src)
furrow_table(formats ${src}/formats furrow_formats)
furrow_table(solvers ${src}/solvers furrow_solvers)
furrow_table(preconditioners ${src}/preconditioners furrow_preconditioners)
furrow_table(subcommands ${CMAKE_CURRENT_SOURCE_DIR}/apps/furrow furrow_subcommands)
furrow_table(benches ${CMAKE_CURRENT_SOURCE_DIR}/apps/furrow/bench furrow_benches)

file(GLOB_RECURSE furrow_sources CONFIGURE_DEPENDS ${src}/*.cpp)
file(GLOB_RECURSE furrow_unit_tests CONFIGURE_DEPENDS ${src}/*_test.cpp)
list(REMOVE_ITEM furrow_sources ${furrow_unit_tests})
if(furrow_has_gpu)
  file(GLOB_RECURSE furrow_gpu_sources CONFIGURE_DEPENDS ${src}/*.cu)
  list(APPEND furrow_sources ${furrow_gpu_sources})
endif()
