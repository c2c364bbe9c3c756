#!/usr/bin/env bash
# Black-box tests of the toolchain's scripts that need neither network nor namespaces: scripts_test.sh CASE, a case being a
# function `case_...` below. Each works on a copy of the scripts, with folders of its own.
set -euo pipefail

project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir -p "$work/clone/tools" "$work/home"
cp -r "$project/tools/toolchain" "$work/clone/tools/"
cp "$project/run" "$project/test" "$work/clone/"
scripts=$work/clone/tools/toolchain
export HOME=$work/home
unset XDG_CACHE_HOME MONOJIT_TOOLCHAIN MONOJIT_TOOLCHAIN_ENTER LLVM_DIR ROCM_PATH

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# Runs a command; its exit code -> $status, stdout -> $out, stderr -> $err.
try() {
  status=0
  "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
  out=$(<"$work/out") err=$(<"$work/err")
}

expect() { # STATUS [WORDS of stderr]
  [ "$status" = "$1" ] || fail "exit code $status instead of $1; stderr: $err"
  [[ $err == *"${2:-}"* ]] || fail "'$2' is not in stderr: $err"
}

digest() { "$scripts/enter" --print-digest; }

case_unknown_option_is_a_usage_error() {
  try "$scripts/enter" --bogus
  expect 2 "unknown option '--bogus'"
  try "$scripts/enter" --versions extra
  expect 2 "--versions takes no arguments"
}

case_help_tells_the_environment() {
  try "$scripts/enter" --help
  expect 0
  [[ $out == *MONOJIT_DEBIAN_MIRROR* ]] || fail "no word about the mirror in: $out"
}

case_digest_follows_the_packages_and_not_the_comments() {
  local first
  first=$(digest)
  [[ $first =~ ^[0-9a-f]{16}$ ]] || fail "no digest: $first"
  sed -i 's/^#.*/# other words/; /^$/d' "$scripts/packages"
  [ "$(digest)" = "$first" ] || fail "a comment changed the digest"
  echo 'install hello' >>"$scripts/packages"
  [ "$(digest)" != "$first" ] || fail "a package did not change the digest"
}

case_root_lies_in_the_cache_folder() {
  local name
  name=$(digest)
  [ "$("$scripts/enter" --print-root)" = "$HOME/.cache/monojit/$name" ] || fail "not in ~/.cache"
  [ "$(XDG_CACHE_HOME=/some/where "$scripts/enter" --print-root)" = "/some/where/monojit/$name" ] || fail "not in XDG_CACHE_HOME"
  [ ! -e "$HOME/.cache" ] || fail "asking made folders"
}

case_cache_folder_must_be_absolute() {
  try env XDG_CACHE_HOME=here "$scripts/enter" --print-root
  expect 3 "the cache folder 'here' must be an absolute path"
  try env -u HOME "$scripts/enter" --print-root
  expect 3 "HOME is not set"
}

case_unknown_line_of_the_package_list_is_named() {
  echo 'instal hello' >>"$scripts/packages"
  try "$scripts/enter" --print-root
  expect 3 "unknown line 'instal hello'"
}

case_use_wants_a_command_and_a_known_toolchain() {
  try "$scripts/use"
  expect 2 "expected a command"
  try env MONOJIT_TOOLCHAIN=best "$scripts/use" true
  expect 2 "MONOJIT_TOOLCHAIN must be host or root, not 'best'"
}

# LLVM, comgr and HIP of a machine, as far as the scripts look.
fake_host() { # LLVM-VERSION COMGR-VERSION
  export LLVM_DIR=$work/llvm ROCM_PATH=$work/rocm
  mkdir -p "$LLVM_DIR" "$ROCM_PATH/include/amd_comgr" "$ROCM_PATH/include/hip"
  : >"$LLVM_DIR/LLVMConfig.cmake"
  printf 'set(PACKAGE_VERSION "%s")\n' "$1" >"$LLVM_DIR/LLVMConfigVersion.cmake"
  printf '#define AMD_COMGR_INTERFACE_VERSION_MAJOR %s\n' "$2" >"$ROCM_PATH/include/amd_comgr/amd_comgr.h"
  : >"$ROCM_PATH/include/hip/hip_runtime_api.h"
}

case_host_with_new_llvm_and_rocm_is_used_directly() {
  fake_host 21.1.0 3
  try env MONOJIT_TOOLCHAIN=host "$scripts/use" --which
  expect 0
  [ "$out" = "host, LLVM 21.1.0 in $LLVM_DIR" ] || fail "$out"
  # shellcheck disable=SC2016 # expanded by the command
  try env MONOJIT_TOOLCHAIN=host "$scripts/use" -- bash -c 'echo "$LLVM_DIR|$1"; exit 7' bash 'two words'
  expect 7
  [ "$out" = "$LLVM_DIR|two words" ] || fail "$out"
}

case_host_too_old_is_refused_with_what_it_lacks() {
  fake_host 20.1.8 2
  try env MONOJIT_TOOLCHAIN=host "$scripts/use" true
  expect 3 "development files of LLVM 21 or newer"
  [[ $err == *"headers of comgr 3 or newer"* ]] || fail "no word about comgr: $err"
  [[ $err != *"HIP's headers"* ]] || fail "HIP is there: $err"
}

case_build_and_test_refuse_an_unknown_preset() {
  try "$scripts/build" --preset fast
  expect 2 "unknown preset 'fast': release, debug, asan or tsan"
  try "$scripts/build" --preset
  expect 2 "--preset wants a name"
  try "$work/clone/test" --preset
  expect 2 "--preset wants a name"
}

case_failed_configuration_shows_the_log_and_leaves_nothing_to_build() {
  echo '{"version": 6, "configurePresets": [{"name": "release", "binaryDir": "build/release"}]}' >"$work/clone/CMakePresets.json"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(x NONE)\nmessage(FATAL_ERROR "the cat is missing")\n' >"$work/clone/CMakeLists.txt"
  try "$scripts/build"
  expect 1 "the cat is missing"
  [[ $err == *"configuring build/release failed (log: $work/clone/build/release.log)"* ]] || fail "no word about the log: $err"
  [ -z "$out" ] || fail "stdout is the command's alone: $out"
}

case_second_build_is_silent_and_a_new_toolchain_builds_anew() {
  echo '{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "build/release"}]}' >"$work/clone/CMakePresets.json"
  cat >"$work/clone/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(x NONE)
add_custom_command(OUTPUT x COMMAND ${CMAKE_COMMAND} -E touch x)
add_custom_target(all_x ALL DEPENDS x)
CMAKE
  try "$scripts/build"
  expect 0 "building build/release"
  try "$scripts/build"
  expect 0
  [ -z "$out$err" ] || fail "nothing to do, yet it says: $out$err"
  echo 'root 0123456789abcdef' >"$work/clone/build/release/.toolchain"
  try "$scripts/build"
  expect 0 "build/release was made with another toolchain: building it anew"
}

# The digest of a family's sources, as the build takes it.
generator_digest() { # FOLDER SOURCE...
  local folder=$1
  shift
  cmake "-DROOT=$folder" "-DSOURCES=$(IFS=';'; echo "$*")" -DNAMESPACE=x "-DHEADER=$work/digest.h" \
    -P "$project/tools/cmake/WriteGeneratorDigest.cmake"
  sed -n 's/.*kGeneratorDigest = "\([0-9a-f]*\)";/\1/p' "$work/digest.h"
}

case_generator_digest_follows_contents_and_names_and_not_the_place() {
  local first
  mkdir -p "$work/one/ir"
  echo 'int a;' >"$work/one/ir/a.h"
  echo 'int b;' >"$work/one/ir/b.cpp"
  cp -r "$work/one" "$work/two"
  first=$(generator_digest "$work/one" ir/a.h ir/b.cpp)
  [[ $first =~ ^[0-9a-f]{64}$ ]] || fail "no digest: $first"
  [ "$(generator_digest "$work/two" ir/a.h ir/b.cpp)" = "$first" ] || fail "another clone has another digest"
  mv "$work/two/ir/a.h" "$work/two/ir/c.h"
  [ "$(generator_digest "$work/two" ir/c.h ir/b.cpp)" != "$first" ] || fail "a new name has the old digest"
  echo '// more' >>"$work/one/ir/b.cpp"
  [ "$(generator_digest "$work/one" ir/a.h ir/b.cpp)" != "$first" ] || fail "an edit has the old digest"
}

[ "$(type -t "${1:-}")" = function ] || fail "no case '${1:-}'; cases: $(compgen -A function case_ | xargs)"
"$1"
