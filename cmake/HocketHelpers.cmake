# The few helpers that every folder uses.

# Source lines in what we write must not depend on where the tree lies: both the absolute path and
# the one relative to the build folder, which ccache passes on, are cut off.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR}
           OUTPUT_VARIABLE HOCKET_FROM_BUILD)

# Warnings and sanitizers of our own targets; never exported.
add_library(hocket_build_flags INTERFACE)
target_compile_options(hocket_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  # {.count = 8} leaves the other members to their defaults, on purpose.
  -Wno-missing-field-initializers
  # At -O1 clang warns of every loop that it was asked to vectorise and did not.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>
  $<$<BOOL:${HOCKET_WERROR}>:-Werror>
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${HOCKET_FROM_BUILD}/=)
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

# What every test program shares: GoogleTest, and the place of the source tree. In a release build
# the tests themselves compile at -O1: what they test is the libraries, which keep -O3.
add_library(hocket_test_flags INTERFACE)
target_link_libraries(hocket_test_flags INTERFACE fmt::fmt hocket_build_flags)
target_compile_definitions(hocket_test_flags INTERFACE HOCKET_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_compile_options(hocket_test_flags INTERFACE $<$<CONFIG:Release>:-O1>
  # A test whose flags do not go with the shared header compiles without it.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=invalid-pch>)

# hocket_add_test(name LABEL unit SOURCES a_test.cpp [LIBS ...])
# A GoogleTest program; its tests are named <label>.<suite>.<test>.
function(hocket_add_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest_main hocket_test_flags)
  if(HOCKET_PCH)
    # GoogleTest's header costs more than most tests; it is compiled once for all of them.
    if(NOT TARGET hocket_test_pch)
      file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_pch.cpp
        CONTENT "// Carries the precompiled header of the tests.\n")
      add_library(hocket_test_pch OBJECT ${PROJECT_BINARY_DIR}/test_pch.cpp)
      target_link_libraries(hocket_test_pch PRIVATE GTest::gtest_main hocket_test_flags)
      target_precompile_headers(hocket_test_pch PRIVATE
        <fmt/format.h> <gtest/gtest.h> <map> <string> <vector>)
      # An object library and a program would get -fPIC and -fPIE, and GCC shares nothing then.
      set_target_properties(hocket_test_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    endif()
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_precompile_headers(${name} REUSE_FROM hocket_test_pch)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${ARG_LABEL}. DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 900)
endfunction()
