# monojit_generator_digest(FAMILY_FOLDER VARIABLE): adds a generated header <FAMILY_FOLDER>/generator_digest.h with
# `inline constexpr std::string_view kGeneratorDigest`, a digest of every source that shapes the family's code: ir/, codegen/,
# kernels/common/, the facade that sets the build's options, and the family's own folder. Made at build time from file contents alone, so a debug and a release build
# of one commit agree, and an edit to another family changes nothing.
function(monojit_generator_digest folder out_variable)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
       ${CMAKE_SOURCE_DIR}/ir/*.h ${CMAKE_SOURCE_DIR}/ir/*.cpp ${CMAKE_SOURCE_DIR}/ir/*.inc
       ${CMAKE_SOURCE_DIR}/codegen/*.h ${CMAKE_SOURCE_DIR}/codegen/*.cpp
       ${CMAKE_SOURCE_DIR}/kernels/common/*.h ${CMAKE_SOURCE_DIR}/kernels/common/*.cpp
       ${CMAKE_SOURCE_DIR}/runtime/compiler/compiler_library.cpp
       ${CMAKE_SOURCE_DIR}/${folder}/*.h ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  list(SORT sources)
  string(REPLACE "/" "_" namespace ${folder})
  set(header ${CMAKE_BINARY_DIR}/generated/${folder}/generator_digest.h)
  list(TRANSFORM sources PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE dependencies)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} "-DSOURCES=${sources}" -DNAMESPACE=${namespace} -DHEADER=${header}
            -P ${CMAKE_SOURCE_DIR}/tools/cmake/WriteGeneratorDigest.cmake
    DEPENDS ${dependencies} ${CMAKE_SOURCE_DIR}/tools/cmake/WriteGeneratorDigest.cmake
    VERBATIM COMMENT "Digest of the sources behind ${folder}")
  set(${out_variable} ${header} PARENT_SCOPE)
endfunction()
