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
endif()

# monojit_library(NAME SOURCES... [LINK libraries...]): a static library, position independent, warnings as errors.
function(monojit_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC monojit_defaults ${arg_LINK})
endfunction()

# monojit_test(NAME SOURCES... [LINK libraries...]): a Catch2 program whose test cases ctest knows one by one.
function(monojit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE monojit_defaults Catch2::Catch2WithMain ${arg_LINK})
  catch_discover_tests(${name} TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300
                       ENVIRONMENT "AMD_COMGR_CACHE=0")
endfunction()
