# cmake --install: headers, libraries, the command, and a package that find_package(hocket) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(parts GLOBAL PROPERTY HOCKET_PARTS)
install(TARGETS ${parts} hocket EXPORT hocketTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/hocket DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${PROJECT_BINARY_DIR}/include/hocket/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hocket COMPONENT development)
install(EXPORT hocketTargets NAMESPACE hocket:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hocket
  COMPONENT development)
configure_package_config_file(cmake/hocketConfig.cmake.in ${PROJECT_BINARY_DIR}/hocketConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hocket)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hocketConfig.cmake ${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hocket COMPONENT development)
