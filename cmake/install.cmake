# `make install`: the command, the library with its headers, the scenes, and what pkg-config and find_package read.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/monolith)
install(TARGETS monolith EXPORT monolith)
if(TARGET monolith_command)
  install(TARGETS monolith_command)
endif()
install(DIRECTORY include/monolith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/monolith)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT monolith NAMESPACE Monolith:: FILE monolith-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/monolith-config.cmake.in ${PROJECT_BINARY_DIR}/monolith-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/monolith-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/monolith-config.cmake ${PROJECT_BINARY_DIR}/monolith-config-version.cmake
  DESTINATION ${package_dir})

# A static library leaves its dependencies to the program that links it. The OpenMP runtime is named, not asked for by
# -fopenmp, because the user's compiler may be another than ours.
list(TRANSFORM OpenMP_C_LIB_NAMES PREPEND "-l" OUTPUT_VARIABLE openmp)
list(JOIN openmp " " openmp)
set(PC_REQUIRES "lua5.4 libcjson libpng zlib")
if(MICROHTTPD_FOUND)
  string(APPEND PC_REQUIRES " libmicrohttpd")
endif()
set(PC_LIBS "-lembree3 ${openmp} -lm")
if(BUILD_SHARED_LIBS)
  set(PC_REQUIRES "")
  set(PC_LIBS "")
endif()
file(RELATIVE_PATH PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/monolith.pc.in ${PROJECT_BINARY_DIR}/monolith.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/monolith.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
