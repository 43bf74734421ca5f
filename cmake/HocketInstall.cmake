# cmake --install: headers, libraries, the command, and a package that find_package(hocket) finds.
include(CMakePackageConfigHelpers)

set(hocket_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hocket)
get_property(parts GLOBAL PROPERTY HOCKET_PARTS)
install(TARGETS ${parts} hocket EXPORT hocketTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILE_SET tables DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT hocketTargets NAMESPACE hocket:: DESTINATION ${hocket_cmake_dir}
  COMPONENT development)
configure_package_config_file(cmake/hocketConfig.cmake.in ${PROJECT_BINARY_DIR}/hocketConfig.cmake
  INSTALL_DESTINATION ${hocket_cmake_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hocketConfig.cmake
              ${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake
  DESTINATION ${hocket_cmake_dir} COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
