# Browser tests: the page in a real Chromium, over a fixture server and over the program with the default
# knowledge base.
if(NOT TARGET askbase_web)
  return()
endif()
add_executable(fixture_server browser/fixture_server.cpp)
target_link_libraries(fixture_server PRIVATE askbase_web)
add_test(NAME browser_page COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/browser/run.sh" page.test.js)
set(ASKBASE_BROWSER_TESTS browser_page)
if(TARGET askbase)
  add_test(NAME browser_atlas COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/browser/run.sh" atlas.test.js)
  list(APPEND ASKBASE_BROWSER_TESTS browser_atlas)
endif()
set_tests_properties(${ASKBASE_BROWSER_TESTS} PROPERTIES LABELS medium TIMEOUT 600 SKIP_RETURN_CODE 77 RESOURCE_LOCK browser
  ENVIRONMENT "${ASKBASE_TEST_ENVIRONMENT};ASKBASE_FIXTURE_SERVER=$<TARGET_FILE:fixture_server>")
