# Finds the Python and the nanobind that the extension module is built with. Never downloads anything.
#
# Which Python: the one that the caller names (-DPython_EXECUTABLE=..., as pip's build does), else
# that of build/venv, which scripts/setup makes from the user's python3, else whatever CMake finds.
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/build/venv/bin/python
    CACHE FILEPATH "The Python that the module is built for")
endif()

# hocket_no_python(what): what is missing, and every way out of it, as commands.
function(hocket_no_python what)
  set(again "")
  if(DEFINED CACHE{Python_EXECUTABLE} AND NOT Python_EXECUTABLE STREQUAL ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
    set(again " -UPython_EXECUTABLE")
  endif()
  message(FATAL_ERROR "The Python packages (HOCKET_PYTHON=ON) cannot be built: ${what}. Either\n"
    "  - let Hocket install what they need into build/venv, and configure again:\n"
    "      ${PROJECT_SOURCE_DIR}/scripts/setup && cmake${again} ${CMAKE_BINARY_DIR}\n"
    "  - or leave them out:\n"
    "      cmake -DHOCKET_PYTHON=OFF ${CMAKE_BINARY_DIR}\n")
endfunction()

find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
if(NOT Python_FOUND)
  hocket_no_python("no Python 3.10 or newer with its headers was found")
endif()

execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE hocket_nanobind_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE hocket_nanobind_missing)
if(hocket_nanobind_missing)
  hocket_no_python("${Python_EXECUTABLE} has no nanobind")
endif()
find_package(nanobind CONFIG REQUIRED PATHS ${hocket_nanobind_dir} NO_DEFAULT_PATH)
