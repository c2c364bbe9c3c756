# shellcheck shell=bash disable=SC2154 # common.sh sets what is used here
# Sourced: replaces this process by a command inside the root. The root gives /usr and /etc, read-only; every other folder of
# the machine is there at its own path as outside, so paths in arguments and environment mean the same. The user, the network
# and the processes stay the machine's too: gdb, perf and GPUs work.

# mounts: "kind|from|to", in order, onto an empty tmpfs (no mount point has to exist in the root).
plan_mounts() {
  local path
  mounts=("ro|$root/usr|/usr" "ro|$root/etc|/etc")
  for path in /*; do
    case $path in
      /usr | /etc | /bin | /sbin | /lib | /lib32 | /lib64 | /libx32) ;;
      /dev) mounts+=("dev|/dev|/dev") ;;
      *)
        if [ -L "$path" ]; then
          mounts+=("link|$(readlink "$path")|$path")
        elif [ -d "$path" ]; then
          mounts+=("rw|$path|$path")
        fi
        ;;
    esac
  done
  if [ -d /usr/src ] && [ -d "$root/usr/src" ]; then mounts+=("rw|/usr/src|/usr/src"); fi # a usual home of clones in containers
  for path in resolv.conf hosts passwd group ssl/certs/ca-certificates.crt; do
    if [ -f "/etc/$path" ] && [ -e "$root/etc/$path" ]; then mounts+=("ro|/etc/$path|/etc/$path"); fi
  done
}

refuse_hidden() { # WHAT FOLDER
  case $2/ in
    /usr/src/*) ;;
    /usr/* | /etc/* | /bin/* | /sbin/* | /lib*)
      die "$1, $2, can't be seen inside the toolchain, which has its own ${2:0:4}: use one elsewhere" ;;
  esac
}

# The environment goes along, less what names files and libraries of the host: those would be the wrong ones inside.
clean_environment() {
  local name
  for name in $(compgen -e); do
    case $name in
      LD_* | LC_* | LANGUAGE | PYTHON* | PYENV_* | VIRTUAL_ENV | CONDA_* | PERL5LIB | GCONV_PATH | LOCPATH | CPATH | *_INCLUDE_PATH | \
        LIBRARY_PATH | PKG_CONFIG* | CMAKE_PREFIX_PATH | CMAKE_TOOLCHAIN_FILE | CC | CXX | LLVM_DIR | ROCM_PATH | HIP_PATH | \
        BASH_ENV | ENV) unset "$name" ;;
    esac
  done
  # LLVM's folder comes last, for the unversioned clang-tidy, clang-format and ld.lld.
  export PATH=/usr/local/bin:/usr/bin:/usr/sbin:/usr/lib/llvm-22/bin LANG=C.UTF-8
  export CCACHE_DIR=${CCACHE_DIR:-$base/ccache}
  if [ -n "${TERM:-}" ] && [ ! -e "$root/usr/share/terminfo/${TERM:0:1}/$TERM" ] && [ ! -e "$root/usr/lib/terminfo/${TERM:0:1}/$TERM" ]; then
    TERM=xterm-256color
  fi
}

enter_with_bwrap() {
  local arguments=(--die-with-parent) mount kind from to
  for mount in "${mounts[@]}"; do
    IFS='|' read -r kind from to <<<"$mount"
    case $kind in
      ro) arguments+=(--ro-bind "$from" "$to") ;;
      rw) arguments+=(--bind "$from" "$to") ;;
      dev) arguments+=(--dev-bind "$from" "$to") ;;
      link) arguments+=(--symlink "$from" "$to") ;;
    esac
  done
  for to in bin sbin lib lib64; do arguments+=(--symlink "usr/$to" "/$to"); done
  exec bwrap "${arguments[@]}" --chdir "$PWD" -- "$@"
}

# The same with what util-linux has. Mounts are made as (mapped) root; the caller's own id comes back in a second namespace,
# before the root is changed, since a process in a chroot may not make one.
enter_with_unshare() {
  local namespaces=(--mount --propagation private) back=()
  if [ "$EUID" != 0 ]; then
    namespaces+=(--user --map-root-user)
    back=(--user --map-user="$EUID" --map-group="$(id -g)")
  fi
  # shellcheck disable=SC2016 # expanded by the inner shell
  exec unshare "${namespaces[@]}" -- bash -euc '
    new=$1 mounts=$2 folder=$3 back=$4
    shift 4
    mount -t tmpfs -o mode=755 tmpfs "$new"
    for name in bin sbin lib lib64; do ln -s "usr/$name" "$new/$name"; done
    while IFS="|" read -r kind from to; do
      if [ "$kind" = link ]; then ln -s "$from" "$new$to"; continue; fi
      if [ ! -e "$new$to" ]; then mkdir -p "$new$to"; fi
      if [ "$kind" = ro ]; then mount --bind -o ro "$from" "$new$to"; else mount --rbind "$from" "$new$to"; fi
    done <<<"$mounts"
    exec unshare $back --root="$new" --wd="$folder" -- "$@"
  ' enter "$root/mnt" "$(printf '%s\n' "${mounts[@]}")" "$PWD" "${back[*]-}" "$@"
}

enter_root() { # COMMAND ARG...
  local way=${MONOJIT_TOOLCHAIN_ENTER:-}
  refuse_hidden "the current folder" "$PWD"
  refuse_hidden "this clone" "$project"
  plan_mounts
  clean_environment
  # Held by the command and its children for as long as they live, so that --prune leaves a root in use alone.
  exec 9<"$root/.complete"
  flock --shared --nonblock 9 || die "$root is being removed: run this again"
  if [ -z "$way" ]; then
    way=unshare
    if command -v bwrap >/dev/null; then way=bwrap; fi
  fi
  case $way in
    bwrap) enter_with_bwrap "$@" ;;
    unshare) enter_with_unshare "$@" ;;
    *) usage_error "MONOJIT_TOOLCHAIN_ENTER must be bwrap or unshare, not '$way'" ;;
  esac
}
