# End-to-end tests: Python 3 programs (standard library only) that drive the built program as a user does.
if(NOT TARGET askbase)
  return()
endif()
find_program(ASKBASE_PYTHON NAMES python3 REQUIRED)

function(askbase_e2e name label)
  add_test(NAME e2e_${name} COMMAND "${ASKBASE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_${name}.py")
  set_tests_properties(e2e_${name} PROPERTIES LABELS ${label} TIMEOUT 600
    ENVIRONMENT "${ASKBASE_TEST_ENVIRONMENT};PYTHONDONTWRITEBYTECODE=1")
endfunction()

askbase_e2e(command_line quick)
askbase_e2e(load quick)
askbase_e2e(ask quick)
askbase_e2e(eval quick)
askbase_e2e(embed quick)
askbase_e2e(scripts quick)
askbase_e2e(bad_input medium)
askbase_e2e(backup medium)
askbase_e2e(crash medium)
askbase_e2e(serve medium)
askbase_e2e(readme medium)
