# The few helpers that every folder uses.

# Warnings and sanitizers of our own targets; never exported.
add_library(hocket_build_flags INTERFACE)
target_compile_options(hocket_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${HOCKET_WERROR}>:-Werror>
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(HOCKET_SANITIZE)
  target_compile_options(hocket_build_flags INTERFACE -fsanitize=${HOCKET_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(hocket_build_flags INTERFACE -fsanitize=${HOCKET_SANITIZE})
endif()

# hocket_add_part(name SOURCES a.cpp b.cpp [PUBLIC parts...] [PRIVATE libs...])
# A library hocket_<name> from one folder under src/. Private headers are included as "<folder>/x.h".
function(hocket_add_part name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(hocket_${name} STATIC ${ARG_SOURCES})
  add_library(hocket::${name} ALIAS hocket_${name})
  target_include_directories(hocket_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(hocket_${name} PUBLIC cxx_std_20)
  target_link_libraries(hocket_${name} PUBLIC ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:hocket_build_flags>)
  set_target_properties(hocket_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY HOCKET_PARTS hocket_${name})
endfunction()

# hocket_add_test(name LABEL unit SOURCES a_test.cpp [LIBS ...])
# A GoogleTest program; its tests are named <label>.<suite>.<test>.
function(hocket_add_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest_main fmt::fmt hocket_build_flags)
  target_compile_definitions(${name} PRIVATE HOCKET_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} TEST_PREFIX ${ARG_LABEL}. DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 900)
endfunction()
