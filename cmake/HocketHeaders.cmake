# The public headers as a file set of hocket::hocket: everything in include/hocket is public.
#
# The target hocket_verify_interface_header_sets, which the test package.headers builds, compiles each
# header alone: one that needs another included before it does not compile.
file(GLOB hocket_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hocket/*.h)
file(GLOB hocket_tables CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hocket/*.def)
target_sources(hocket
  INTERFACE
  FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include
    FILES ${hocket_headers} ${PROJECT_BINARY_DIR}/include/hocket/version.h
  FILE_SET tables TYPE HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR}/include
    FILES ${hocket_tables})
set_target_properties(hocket PROPERTIES
  VERIFY_INTERFACE_HEADER_SETS ${HOCKET_TESTS}
  INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
