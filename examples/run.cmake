# Runs an example and compares what it prints: with a file (EXPECTED), or with what the Python SCRIPT
# prints. `cmake -DBLESS=1 ...` writes the file instead.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE found ERROR_VARIABLE complaint
  RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT complaint STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} ended with ${code}\n${complaint}")
endif()

if(EXPECTED AND BLESS)
  file(WRITE ${EXPECTED} "${found}")
elseif(EXPECTED)
  file(READ ${EXPECTED} expected)
else()
  if(NOT EXISTS ${TREE}/hocket/__init__.py)
    message("SKIPPED: ${TREE} has no hocket; the Python package is not built here")
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${TREE} PYTHONDONTWRITEBYTECODE=1
    ${PYTHON} ${SCRIPT} OUTPUT_VARIABLE expected ERROR_VARIABLE complaint RESULT_VARIABLE code)
  if(NOT code EQUAL 0 OR NOT complaint STREQUAL "")
    message(FATAL_ERROR "${SCRIPT} ended with ${code}\n${complaint}")
  endif()
endif()

if(NOT BLESS AND NOT found STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed\n${found}\nexpected\n${expected}")
endif()
