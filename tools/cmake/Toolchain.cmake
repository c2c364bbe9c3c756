# What monojit is built from. Each missing piece is named with what to do, before anything compiles.

# LLVM accepts only an equal major.minor in find_package, so the version is checked by hand.
find_package(LLVM CONFIG REQUIRED)
if(LLVM_VERSION_MAJOR LESS 21)
  message(FATAL_ERROR "LLVM ${LLVM_VERSION} is too old: monojit needs LLVM 21 or newer with the AMDGPU backend. "
                      "Use ./run, which sets up a toolchain of its own, or point LLVM_DIR at a newer one.")
endif()
if(NOT "AMDGPU" IN_LIST LLVM_TARGETS_TO_BUILD)
  message(FATAL_ERROR "LLVM ${LLVM_VERSION} in ${LLVM_DIR} was built without the AMDGPU target.")
endif()

# comgr and HIP are opened at run time; the build needs their headers alone.
find_path(COMGR_INCLUDE_DIR amd_comgr/amd_comgr.h HINTS /opt/rocm/include ENV ROCM_PATH PATH_SUFFIXES include)
find_path(HIP_INCLUDE_DIR hip/hip_runtime_api.h HINTS /opt/rocm/include ENV ROCM_PATH PATH_SUFFIXES include)
foreach(header COMGR HIP)
  if(NOT ${header}_INCLUDE_DIR)
    message(FATAL_ERROR "The ${header} headers are missing (ROCm 7 or newer). Use ./run, or set ${header}_INCLUDE_DIR.")
  endif()
endforeach()

add_library(monojit_llvm INTERFACE)
target_include_directories(monojit_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(monojit_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
if(TARGET LLVM) # the shared library: comgr uses the same one, so a process holds a single LLVM
  target_link_libraries(monojit_llvm INTERFACE LLVM)
else()
  llvm_map_components_to_libnames(monojit_llvm_components core bitwriter passes amdgpu target debuginfodwarf symbolize objcopy)
  target_link_libraries(monojit_llvm INTERFACE ${monojit_llvm_components})
endif()

add_library(monojit_comgr_headers INTERFACE)
target_include_directories(monojit_comgr_headers SYSTEM INTERFACE ${COMGR_INCLUDE_DIR})

add_library(monojit_hip_headers INTERFACE)
target_include_directories(monojit_hip_headers SYSTEM INTERFACE ${HIP_INCLUDE_DIR})
target_compile_definitions(monojit_hip_headers INTERFACE __HIP_PLATFORM_AMD__)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(benchmark REQUIRED)
find_package(blake3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(HIREDIS IMPORTED_TARGET hiredis)      # remote caches at redis:// URLs
pkg_check_modules(HTTPLIB IMPORTED_TARGET cpp-httplib)  # remote caches at http:// URLs
if(MONOJIT_TESTS)
  find_package(Catch2 3 REQUIRED)
endif()
