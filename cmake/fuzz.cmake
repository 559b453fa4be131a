# `make fuzz`: each tests/fuzz/NAME.c is a target of clang's libFuzzer, with the corpus tests/fuzz/corpus/NAME. The whole
# library is then instrumented, so that this is a build of its own.
option(MONOLITH_FUZZ "Build the fuzz targets (clang; with MONOLITH_SANITIZE=address,undefined,fuzzer-no-link)" OFF)
if(MONOLITH_FUZZ)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.c)
  foreach(source ${fuzz_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} ${source})
    target_link_libraries(fuzz_${name} PRIVATE monolith mo_options)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    list(APPEND fuzz_targets fuzz_${name})
  endforeach()
  add_custom_target(fuzz_targets DEPENDS ${fuzz_targets})
endif()
