# Settings that every target of this project shares.

add_library(monojit_defaults INTERFACE)
target_include_directories(monojit_defaults INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
# Source paths inside the binaries (debug lines of generated kernels among them) are relative to the clone: two clones of
# one commit generate the same bytes.
target_compile_options(
  monojit_defaults INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion
                             -Wno-sign-conversion -Werror -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -fno-math-errno -ffp-contract=off)
target_link_libraries(monojit_defaults INTERFACE fmt::fmt)
if(MONOJIT_SANITIZE)
  target_compile_options(monojit_defaults INTERFACE -fsanitize=${MONOJIT_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=undefined)
  target_link_options(monojit_defaults INTERFACE -fsanitize=${MONOJIT_SANITIZE})
  if(MONOJIT_SANITIZE STREQUAL "thread")
    # GCC no longer sees through LLVM's own operators new and delete where they are instrumented.
    target_compile_options(monojit_defaults INTERFACE -Wno-mismatched-new-delete)
  endif()
endif()

# monojit_library(NAME SOURCES... [LINK libraries...]): a static library, position independent, warnings as errors.
function(monojit_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC monojit_defaults ${arg_LINK})
endfunction()

# monojit_test_program(NAME SOURCES... [LINK libraries...]): a Catch2 program; monojit_discover_tests() makes tests of it.
function(monojit_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE monojit_defaults Catch2::Catch2WithMain ${arg_LINK})
endfunction()

# monojit_discover_tests(NAME PREFIX name/ [SPEC tests] [VARIABLE name VALUE value]): each of its test cases becomes a test of
# ctest, run with that environment variable. A program may be discovered several times, under prefixes that differ.
function(monojit_discover_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;SPEC;VARIABLE;VALUE" "")
  set(variable "")
  if(arg_VARIABLE) # a second property, as Catch takes no list of variables in one
    set(variable ENVIRONMENT_MODIFICATION "${arg_VARIABLE}=set:${arg_VALUE}")
  endif()
  # Catch keeps one list of tests for each set of arguments: a run's name makes them differ
  catch_discover_tests(${name} TEST_PREFIX "${arg_PREFIX}" TEST_SPEC ${arg_SPEC} EXTRA_ARGS --name "${arg_PREFIX}"
                       DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300 ENVIRONMENT AMD_COMGR_CACHE=0 ${variable})
endfunction()

# monojit_test(NAME SOURCES... [LINK libraries...]): a Catch2 program whose test cases ctest knows one by one.
function(monojit_test name)
  monojit_test_program(${name} ${ARGN})
  monojit_discover_tests(${name} PREFIX ${name}/)
endfunction()
