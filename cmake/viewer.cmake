# `monolith view`: libmicrohttpd serves, and npm builds the page. Without the one it only exports, without the other it
# says where the page comes from.
pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd)
if(MICROHTTPD_FOUND)
  list(APPEND EXTERNAL PkgConfig::MICROHTTPD)
  add_compile_definitions(MO_HAVE_MICROHTTPD)
else()
  message(STATUS "libmicrohttpd was not found: 'monolith view' can only export pages")
endif()

find_program(NPM npm)
find_program(NODE node)
option(MONOLITH_VIEWER "Build the page of 'monolith view' with npm" ON)
if(MONOLITH_VIEWER AND NPM AND NODE)
  file(GLOB viewer_sources CONFIGURE_DEPENDS viewer/src/* viewer/*.json viewer/*.mjs viewer/build.sh)
  add_custom_command(OUTPUT viewer.html DEPENDS ${viewer_sources} VERBATIM
    COMMAND sh ${PROJECT_SOURCE_DIR}/viewer/build.sh ${PROJECT_BINARY_DIR}/viewer.html
    COMMENT "Building the viewer's page")
  add_custom_target(viewer ALL DEPENDS ${PROJECT_BINARY_DIR}/viewer.html)
  install(FILES ${PROJECT_BINARY_DIR}/viewer.html DESTINATION ${CMAKE_INSTALL_DATADIR}/monolith OPTIONAL)
elseif(MONOLITH_VIEWER)
  message(STATUS "npm was not found: the page of 'monolith view' is not built")
endif()
