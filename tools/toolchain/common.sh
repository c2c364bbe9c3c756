# shellcheck shell=bash
# Sourced by the scripts here: messages, the recipe of the toolchain root and where it lives. Sets:
#   suite extra_suite install[] extra[]   from the file `packages`
#   cache base digest root                folders of the cache, and the root of this recipe in it
# shellcheck disable=SC2034 # those who source this use what it sets

say() { printf 'monojit: %s\n' "$*" >&2; }
die() { # the toolchain can't be had; a command's own exit code is passed through otherwise
  say "$@"
  exit 3
}
usage_error() {
  say "$@"
  exit 2
}

recipe_edition=1 # raise it when make_root.sh changes what it makes of the same packages

toolchain=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=${toolchain%/tools/toolchain}
inside_file=/etc/monojit-toolchain # holds the digest, in the root

read_packages() {
  local words
  install=() extra=()
  while read -r -a words; do
    case ${words[0]:-} in
      '' | '#'*) ;;
      suite) suite=${words[1]} ;;
      extra-suite) extra_suite=${words[1]} ;;
      install) install+=("${words[@]:1}") ;;
      extra) extra+=("${words[@]:1}") ;;
      *) die "$toolchain/packages: unknown line '${words[*]}'" ;;
    esac
  done <"$toolchain/packages"
}

locate_root() {
  [ -n "${HOME:-}" ] || [ -n "${XDG_CACHE_HOME:-}" ] || die "HOME is not set: set it to a folder that you may write to"
  cache=${XDG_CACHE_HOME:-$HOME/.cache}
  case $cache in
    /*) ;;
    *) die "the cache folder '$cache' must be an absolute path (XDG_CACHE_HOME, HOME)" ;;
  esac
  base=$cache/monojit
  digest=$(printf '%s\n' "$recipe_edition" "$HOSTTYPE" "$suite" "$extra_suite" "${install[@]}" -- "${extra[@]}" | sha256sum)
  digest=${digest:0:16}
  root=$base/$digest
}

# The digest of the root that this process runs in; empty outside of any.
inside() {
  if [ -r "$inside_file" ]; then cat "$inside_file"; fi
}
