# shellcheck shell=bash disable=SC2034 # those who source this use what it sets
# Sourced: whether this machine can build monojit by itself. Looks at files alone, as it runs before every command.

oldest_llvm=21
oldest_comgr=3

# The newest LLVM that has development files, as CMake would look for them -> llvm_dir, llvm_version.
find_llvm() {
  local folder line version
  llvm_dir='' llvm_version=0
  for folder in ${LLVM_DIR:+"$LLVM_DIR"} "${ROCM_PATH:-/opt/rocm}"{,/lib}/llvm/lib/cmake/llvm /usr/lib/llvm-*/lib/cmake/llvm \
    /usr/lib{,64}/llvm[0-9]*/lib{,64}/cmake/llvm /usr{,/local}/lib{,64}/cmake/llvm; do
    [ -r "$folder/LLVMConfigVersion.cmake" ] && [ -r "$folder/LLVMConfig.cmake" ] || continue
    version=0
    while read -r line; do
      if [[ $line =~ ^set\(PACKAGE_VERSION\ \"([0-9]+)\.([^\"]*)\" ]]; then
        version=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}
        break
      fi
    done <"$folder/LLVMConfigVersion.cmake"
    if [ "${version%%.*}" -gt "${llvm_version%%.*}" ]; then llvm_version=$version llvm_dir=$folder; fi
    if [ "$folder" = "${LLVM_DIR:-}" ]; then break; fi # the user's choice stands
  done
}

find_header() { # NAME -> its path
  local folder
  for folder in "${ROCM_PATH:-/opt/rocm}/include" /usr/include /usr/local/include; do
    if [ -r "$folder/$1" ]; then
      echo "$folder/$1"
      return
    fi
  done
}

comgr_version() { # the interface version of the installed header; 0 without one
  local header words
  header=$(find_header amd_comgr/amd_comgr.h)
  if [ -n "$header" ]; then
    while read -r -a words; do
      if [ "${words[1]:-}" = AMD_COMGR_INTERFACE_VERSION_MAJOR ]; then
        echo "${words[2]}"
        return
      fi
    done <"$header"
  fi
  echo 0
}

# -> missing_on_host: what it would take to build here, in words; empty when this machine can.
check_host() {
  local tool
  missing_on_host=()
  find_llvm
  [ "${llvm_version%%.*}" -ge "$oldest_llvm" ] || missing_on_host+=("development files of LLVM $oldest_llvm or newer")
  [ "$(comgr_version)" -ge "$oldest_comgr" ] || missing_on_host+=("headers of comgr $oldest_comgr or newer (ROCm 7)")
  [ -n "$(find_header hip/hip_runtime_api.h)" ] || missing_on_host+=("HIP's headers (ROCm 7)")
  for tool in cmake ninja c++; do
    command -v "$tool" >/dev/null || missing_on_host+=("$tool")
  done
}
