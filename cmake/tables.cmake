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

# Ways of dense products: a file of DIR/along or DIR/across is one. Writes FOLDER/gemv_ways.inc, which includes them and
# lists them by the `order` that each states.
function(furrow_ways_in folder)
  set(includes "")
  set(lists "")
  foreach(direction along across)
    set(found "")
    foreach(dir IN LISTS ARGN)
      file(GLOB files CONFIGURE_DEPENDS ${dir}/${direction}/*.hpp)
      foreach(file IN LISTS files)
        file(STRINGS ${file} order REGEX "constexpr int order = [0-9]+;")
        string(REGEX REPLACE "[^0-9]" "" order "${order}")
        if(order STREQUAL "")
          message(FATAL_ERROR "${file} does not state its order: give it 'static constexpr int order = NUMBER;'")
        endif()
        get_filename_component(name ${file} NAME_WE)
        list(APPEND found "${order} ${direction}::${name}")
        string(APPEND includes "#include \"${file}\"\n")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
      endforeach()
    endforeach()
    list(SORT found COMPARE NATURAL)
    list(TRANSFORM found REPLACE "^[0-9]+ " "")
    list(JOIN found ", " found)
    string(APPEND lists "using ${direction}_ways = ways<${found}>;\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/gemv_ways.inc CONTENT "${includes}\nnamespace furrow::dense {\n${lists}}\n" @ONLY)
endfunction()

# Formats that have a FILE in their folder below the DIRs, such as look.cpp: writes FOLDER/KIND.inc with a line for each.
function(furrow_formats_with file folder kind)
  set(lines "")
  foreach(dir IN LISTS ARGN)
    file(GLOB found RELATIVE ${dir} CONFIGURE_DEPENDS ${dir}/*/${file})
    foreach(path IN LISTS found)
      get_filename_component(name ${path} DIRECTORY)
      string(APPEND lines "FURROW_ENTRY(${name})\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${kind}.inc CONTENT "${lines}" @ONLY)
endfunction()

# What UNITY_BUILD does, for sources in CUDA, which CMake 3.25 leaves apart: those of each FOLDER of src are compiled seven at
# a time. They have the same headers, and in part the same kernels: it takes less than half of the time.
function(furrow_join_cuda sources)
  set(all ${${sources}})
  foreach(folder IN LISTS ARGN)
    set(these ${all})
    list(FILTER these INCLUDE REGEX "/src/${folder}/")
    list(REMOVE_ITEM all ${these})
    set(number 0)
    while(these)
      list(SUBLIST these 0 7 batch)
      list(REMOVE_ITEM these ${batch})
      list(TRANSFORM batch REPLACE ".+" "#include \"\\0\"\n")
      string(JOIN "" text ${batch})
      set(file ${CMAKE_BINARY_DIR}/joined/${folder}_${number}.cu)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND all ${file})
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
  set(${sources} ${all} PARENT_SCOPE)
endfunction()

set(src ${CMAKE_CURRENT_SOURCE_DIR}/src)
furrow_ways_in(${furrow_generated} ${src}/gemv/gpu)
furrow_table(formats ${src}/formats furrow_formats)
furrow_table(solvers ${src}/solvers furrow_solvers)
furrow_table(preconditioners ${src}/preconditioners furrow_preconditioners)
furrow_table(subcommands ${CMAKE_CURRENT_SOURCE_DIR}/apps/furrow furrow_subcommands)
furrow_table(benches ${CMAKE_CURRENT_SOURCE_DIR}/apps/furrow/bench furrow_benches)

# Formats with kernels that are played, which are read as nvcc reads kernels, and those that look for themselves.
furrow_formats_with(play.cpp ${furrow_generated} played ${src}/formats)
furrow_formats_with(look.cpp ${furrow_generated} looks ${src}/formats)
furrow_formats_with(gpu_look.cu ${furrow_generated} gpu_looks ${src}/formats)

file(GLOB_RECURSE furrow_sources CONFIGURE_DEPENDS ${src}/*.cpp)
file(GLOB_RECURSE furrow_unit_tests CONFIGURE_DEPENDS ${src}/*_test.cpp)
list(REMOVE_ITEM furrow_sources ${furrow_unit_tests} ${src}/distributed/mpi/module.cpp) # a module of its own
# What a first solve on the CPU runs stands first, each behind those that call it, and so together in every program: it
# touches 24 in place of 37 of the 64 KiB of code that the system brings at a time, which saves a system of 20 rows 50 us.
set(first solve/solver core/triplets solve/arranging core/memory_place backends/gpu/memory_place solve/coordinates
  solve/ladder solve/run solve/memory solve/ladder_system solve/survey core/stats core/lengths solve/features
  core/symmetry solve/rungs matrix/source core/device core/memory core/environment backends/cpu/parallel
  backends/cpu/isa dispatch/choose dispatch/formats dispatch/solvers solve/prepared_system core/operator
  core/vector_operations formats/csr/csr formats/csr/cpu_rows preconditioners/jacobi/jacobi core/parameters
  solvers/cg/cg solvers/cg/ritz solvers/cg/messages solvers/messages solve/second_look solvers/iteration_on_cpu
  solvers/direct/direct preconditioners/lu/lu preconditioners/lu/inverse preconditioners/lu/columns
  preconditioners/lu/lapack solvers/lsmr/lsmr solvers/bicgstab/bicgstab)
list(TRANSFORM first PREPEND ${src}/)
list(TRANSFORM first APPEND .cpp)
list(REMOVE_ITEM furrow_sources ${first})
list(PREPEND furrow_sources ${first})
if(furrow_has_gpu)
  file(GLOB_RECURSE furrow_gpu_sources CONFIGURE_DEPENDS ${src}/*.cu)
  if(FURROW_UNITY)
    furrow_join_cuda(furrow_gpu_sources backends matrix preconditioners solvers)
  endif()
  list(APPEND furrow_sources ${furrow_gpu_sources})
endif()

# The pages that `furrow teach` prints, in the order in which the first of them lists them: FURROW_LESSON(NAME, TEXT).
set(pages ${CMAKE_CURRENT_SOURCE_DIR}/docs/kernels)
file(READ ${pages}/README.md text)
string(REGEX MATCHALL "\\([a-z_]+[.]md\\)" listed "${text}")
string(REGEX REPLACE "[()]" "" listed "${listed}")
file(GLOB present RELATIVE ${pages} CONFIGURE_DEPENDS ${pages}/*.md)
set(lessons "")
foreach(page IN LISTS listed)
  file(READ ${pages}/${page} text)
  string(REPLACE ".md" "" name ${page})
  string(APPEND lessons "FURROW_LESSON(${name}, R\"page(${text})page\")\n")
  list(REMOVE_ITEM present ${page})
endforeach()
if(NOT present STREQUAL "README.md")
  message(FATAL_ERROR "docs/kernels/README.md does not list every page there: ${present}")
endif()
file(CONFIGURE OUTPUT ${furrow_generated}/lessons.inc CONTENT "${lessons}" @ONLY)
list(TRANSFORM listed PREPEND ${pages}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages}/README.md ${listed})
