# Everything CTest runs. tests/test_<module>[_<topic>].c is linked with the modules up to its own, so that a test of
# the grid cannot lean on the solver; the shell tests get the built command as their first argument.
enable_testing()
set(TEST_TIMEOUT 300)
if(MONOLITH_SANITIZE)
  set(TEST_TIMEOUT 1800)
endif()

find_path(CMOCKA_INCLUDE cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)
if(CMOCKA_INCLUDE AND CMOCKA_LIBRARY)
  file(GLOB test_sources CONFIGURE_DEPENDS tests/test_*.c)
else()
  message(STATUS "cmocka was not found: the C tests are not built")
endif()
# Tests of the system take analytic cases, which are one room above it.
set(below_system ${below_cases})
# C tests that take 2 s or more. `make sanitize-fast` builds and runs the others.
set(slow_tests test_bench_contact test_bench_sweep test_geometry test_geometry_stuffing test_grid_cut_many
  test_output_elastic test_output_run test_report test_scene_files test_scene_sandbox test_sim test_sim_air test_sim_air_bodies test_sim_air_moving_sheets test_sim_air_paper test_sim_air_paper
  test_sim_band test_sim_cloth test_sim_cloth_contact test_sim_elastic test_sim_elastic_contact test_sim_elastic_liquid
  test_sim_elastic_memory test_sim_elastic_random test_sim_air_sheets test_sim_incline test_sim_sheets
  test_sim_viscous_shells test_sim_wet_cloth test_system_sheet_flows test_geometry_sheet_sweep
  test_sim_energy test_sim_estimate test_sim_forces test_sim_heavy test_sim_physics test_sim_random test_sim_rigid test_sim_seams
  test_sim_rigid_shells test_sim_slits test_sim_state test_sim_trust test_sim_viscous test_sim_volume test_sim_warnings test_solid_cloth test_solid_contact
  test_solid_rigid test_system test_system_elastic_contact test_system_methods test_system_polygons
  test_system_stress test_system_viscous test_system_viscous_contact test_system_viscous_nodes)
foreach(source ${test_sources})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^test_([a-z0-9]+).*$" "\\1" module ${name})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${below_${module}} mo_options ${CMOCKA_LIBRARY})
  target_include_directories(${name} PRIVATE ${CMOCKA_INCLUDE})
  target_compile_definitions(${name} PRIVATE
    SOURCE_DIR="${PROJECT_SOURCE_DIR}" BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  list(APPEND all_tests ${name})
  if(NOT name IN_LIST slow_tests)
    list(APPEND fast_tests ${name})
  endif()
endforeach()
foreach(name ${slow_tests})
  if(test_sources AND NOT TARGET ${name})
    message(FATAL_ERROR "cmake/tests.cmake: the slow test ${name} is not there")
  endif()
endforeach()
if(fast_tests)
  set_tests_properties(${fast_tests} PROPERTIES LABELS fast)
endif()
add_custom_target(fast_tests DEPENDS ${fast_tests})

if(TARGET monolith_command)
  file(GLOB cli_scripts CONFIGURE_DEPENDS tests/cli/*.sh)
  list(FILTER cli_scripts EXCLUDE REGEX "/common.sh$")
endif()
# Functions of the C library that fail on demand, for tests/torture.sh; sanitizers have functions of their own.
if(TARGET monolith_command AND NOT MONOLITH_SANITIZE)
  add_library(monolith_faults SHARED tests/preload/faults.c)
  target_link_libraries(monolith_faults PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(monolith_command monolith_faults)
endif()
foreach(script ${cli_scripts})
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME cli_${name} COMMAND bash ${script} $<TARGET_FILE:monolith_command>
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND all_tests cli_${name})
endforeach()

add_test(NAME layers COMMAND sh ${PROJECT_SOURCE_DIR}/tests/layers.sh ${PROJECT_SOURCE_DIR})
add_test(NAME layers_self_test COMMAND sh ${PROJECT_SOURCE_DIR}/tests/layers.sh --self-test)
add_test(NAME json2csv COMMAND sh ${PROJECT_SOURCE_DIR}/tools/json2csv.sh --self-test)
add_test(NAME owners COMMAND sh ${PROJECT_SOURCE_DIR}/tests/owners.sh ${PROJECT_SOURCE_DIR})
add_test(NAME owners_self_test COMMAND sh ${PROJECT_SOURCE_DIR}/tests/owners.sh --self-test)
list(APPEND all_tests layers layers_self_test owners owners_self_test json2csv)
if(NOT MONOLITH_SANITIZE)
  add_test(NAME install COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install.sh ${PROJECT_BINARY_DIR})
  list(APPEND all_tests install)
endif()
# Tests run side by side: threads that wait must not spin on cores that others need. The thread sanitizer must not judge
# the locks inside libraries that were built without it (OpenMP's runtime, TBB).
set(environment OMP_WAIT_POLICY=passive TSAN_OPTIONS=ignore_noninstrumented_modules=1)
set_tests_properties(${all_tests} PROPERTIES TIMEOUT ${TEST_TIMEOUT} ENVIRONMENT "${environment}")
