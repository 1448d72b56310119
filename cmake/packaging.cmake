# SPDX-License-Identifier: BSD-3-Clause
# Install and export: find_package(furrow) gives furrow::furrow.
include(CMakePackageConfigHelpers)
set(furrow_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/furrow)
install(TARGETS furrow furrow_warnings EXPORT furrow_targets)
install(DIRECTORY include/furrow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT furrow_targets NAMESPACE furrow:: FILE furrow_targets.cmake DESTINATION ${furrow_package_dir})
configure_package_config_file(cmake/furrowConfig.cmake.in ${CMAKE_BINARY_DIR}/furrowConfig.cmake INSTALL_DESTINATION ${furrow_package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/furrowConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/furrowConfig.cmake ${CMAKE_BINARY_DIR}/furrowConfigVersion.cmake cmake/Finddeflate.cmake
  cmake/Findzstd.cmake cmake/Findsuperlu.cmake DESTINATION ${furrow_package_dir})
# What is compiled in and asks for its notice.
install(FILES cmake/licenses/ducc0.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses)
