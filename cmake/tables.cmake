# SPDX-License-Identifier: BSD-3-Clause
# One folder per thing. A folder of src/formats, src/solvers, src/preconditioners, apps/furrow or apps/furrow/bench is
# an entry of the table of its kind: adding one touches no other file.
set(furrow_generated ${CMAKE_BINARY_DIR}/generated)

# Writes FOLDER/KIND.inc with one line FURROW_ENTRY(NAME) for every folder below the DIRs, and lists the folders in OUT.
function(furrow_table_in folder kind out)
  set(lines "")
  set(found "")
  foreach(dir IN LISTS ARGN)
    file(GLOB names RELATIVE ${dir} CONFIGURE_DEPENDS ${dir}/*)
    foreach(name IN LISTS names)
      if(IS_DIRECTORY ${dir}/${name})
        string(APPEND lines "FURROW_ENTRY(${name})\n")
        list(APPEND found ${name})
      endif()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${kind}.inc CONTENT "${lines}" @ONLY)
  set(${out} ${found} PARENT_SCOPE)
endfunction()
macro(furrow_table kind dir out)
  furrow_table_in(${furrow_generated} ${kind} ${out} ${dir})
endmacro()

set(src ${CMAKE_CURRENT_SOURCE_DIR}/src)
furrow_table(formats ${src}/formats furrow_formats)
furrow_table(solvers ${src}/solvers furrow_solvers)
furrow_table(preconditioners ${src}/preconditioners furrow_preconditioners)
furrow_table(subcommands ${CMAKE_CURRENT_SOURCE_DIR}/apps/furrow furrow_subcommands)
furrow_table(benches ${CMAKE_CURRENT_SOURCE_DIR}/apps/furrow/bench furrow_benches)

# Formats with kernels that are played: those with a play.cpp, which is read as nvcc reads kernels.
file(GLOB furrow_played RELATIVE ${src}/formats CONFIGURE_DEPENDS ${src}/formats/*/play.cpp)
list(TRANSFORM furrow_played REPLACE "/play.cpp" ")\n" OUTPUT_VARIABLE lines)
list(TRANSFORM lines PREPEND "FURROW_ENTRY(")
list(JOIN lines "" lines)
file(CONFIGURE OUTPUT ${furrow_generated}/played.inc CONTENT "${lines}" @ONLY)

file(GLOB_RECURSE furrow_sources CONFIGURE_DEPENDS ${src}/*.cpp)
file(GLOB_RECURSE furrow_unit_tests CONFIGURE_DEPENDS ${src}/*_test.cpp)
list(REMOVE_ITEM furrow_sources ${furrow_unit_tests})
if(furrow_has_gpu)
  file(GLOB_RECURSE furrow_gpu_sources CONFIGURE_DEPENDS ${src}/*.cu)
  list(APPEND furrow_sources ${furrow_gpu_sources})
endif()
