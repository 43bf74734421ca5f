# Finds the Python and the nanobind that the extension module is built with. Never downloads anything.
#
# Which Python: the one that the caller names (-DPython_EXECUTABLE=..., as pip's build does), else
# that of build/venv, which scripts/setup makes from the user's python3, else whatever CMake finds.
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/build/venv/bin/python
    CACHE FILEPATH "The Python that the module is built for")
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
if(NOT Python_FOUND)
  message(FATAL_ERROR "no Python with headers; run scripts/setup, or configure with -DHOCKET_PYTHON=OFF")
endif()

execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE hocket_nanobind_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE hocket_nanobind_missing)
if(hocket_nanobind_missing)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind; "
    "run scripts/setup, or configure with -DHOCKET_PYTHON=OFF")
endif()
find_package(nanobind CONFIG REQUIRED PATHS ${hocket_nanobind_dir} NO_DEFAULT_PATH)
