# Installs BUILD into STAGE and moves the result to PREFIX, so that a path of the one place that was
# written into the package shows when it is used from the other.
file(REMOVE_RECURSE ${STAGE} ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${STAGE}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${STAGE} ${PREFIX})
foreach(file include/hocket/hocket.h include/hocket/version.h include/hocket/codes.def bin/hocket)
  if(NOT EXISTS ${PREFIX}/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
