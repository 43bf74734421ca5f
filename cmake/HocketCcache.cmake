# Compiles through ccache where it is installed and the user has not chosen a launcher.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(HOCKET_CCACHE ccache)
  if(HOCKET_CCACHE)
    # base_dir: another clone of the same sources finds what this one compiled.
    # namespace: ccache takes no account of what -ffile-prefix-map says, so whoever changes that flag
    # changes the number here too.
    # sloppiness: what ccache asks for before it caches a user of a precompiled header; the sources
    # use neither __DATE__ nor __TIME__, and no macro that the header expands.
    set(CMAKE_CXX_COMPILER_LAUNCHER /usr/bin/env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NAMESPACE=hocket-1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${HOCKET_CCACHE})
  endif()
endif()
