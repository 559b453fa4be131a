# The identity of a build: a hash of the sources that decide the results of a run. Compilers and machines do not belong
# to it, because all of them give the same bits (make bits). As a script: cmake -DSOURCE=... -DOUT=... -P identity.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/src/*.[ch] ${SOURCE}/include/*.h)
  list(FILTER files EXCLUDE REGEX "^src/(cases|render|report|view|bench)/")
  list(SORT files)
  set(all "")
  foreach(name ${files})
    file(SHA256 ${SOURCE}/${name} hash)
    string(APPEND all "${name} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 15 hash)
  file(WRITE ${OUT} "#define MO_BUILD \"${hash}\"\n")
  return()
endif()

file(GLOB_RECURSE identity_sources CONFIGURE_DEPENDS src/*.[ch] include/*.h)
set(identity ${PROJECT_BINARY_DIR}/identity/mo_build.h)
add_custom_command(OUTPUT ${identity} DEPENDS ${identity_sources} ${PROJECT_SOURCE_DIR}/cmake/identity.cmake
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${identity}
    -P ${PROJECT_SOURCE_DIR}/cmake/identity.cmake VERBATIM)
target_sources(mo_base PRIVATE ${identity})
target_include_directories(mo_base PRIVATE ${PROJECT_BINARY_DIR}/identity)
