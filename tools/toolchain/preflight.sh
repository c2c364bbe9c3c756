# shellcheck shell=bash disable=SC2154 # common.sh sets what is used here
# Sourced: what this machine needs before a root can be made. Each thing that is missing is named with what to do.

need_mib=4096 # 2 GB stay; the rest is for the downloads and for unpacking
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The machine's own choice of mirror. One that is no Debian (but has apt) gets Debian's general one.
debian_mirror() {
  local found
  if [ -n "${MONOJIT_DEBIAN_MIRROR:-}" ]; then
    echo "$MONOJIT_DEBIAN_MIRROR"
    return
  fi
  # shellcheck disable=SC2016 # apt's own placeholders
  found=$(apt-get indextargets --format '$(ORIGIN)|$(SITE)' 'Created-By: Packages' 2>/dev/null |
    awk -F'|' '$2 ~ /security/ {next} $1 == "Debian" || $2 ~ /\/debian\/?$/ {print $2; exit}')
  echo "${found:-http://deb.debian.org/debian}"
}

# Others use apt too: a machine that has just booted often updates its lists by itself.
apt_get() {
  local attempt
  for attempt in {1..30}; do
    if DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >"$base/install.log" 2>&1; then return 0; fi
    grep -q 'Could not get lock' "$base/install.log" || return 1
    [ "$attempt" != 1 ] || say "waiting for another apt-get to finish"
    sleep 10
  done
  return 1
}

install_on_host() {
  say "installing on this machine: $*"
  # Lists that can't be renewed may still do.
  apt_get update || true
  apt_get install -y --no-install-recommends "$@" || {
    tail -n 5 "$base/install.log" | sed 's/^/  | /' >&2
    die "could not install $* (log: $base/install.log)"
  }
  hash -r
}

require_packages() {
  local missing=()
  command -v apt-get >/dev/null ||
    die "apt-get is missing: the toolchain is made of Debian packages, so this needs Debian or a relative of it. Elsewhere
  install LLVM 21 or newer, ROCm 7 or newer, CMake, Ninja and the libraries that CMake asks for"
  command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
  [ -r "$keyring" ] || missing+=(debian-archive-keyring)
  command -v mount >/dev/null || missing+=(mount) # the smallest containers lack it
  if [ "$EUID" = 0 ]; then
    command -v bwrap >/dev/null || missing+=(bubblewrap)
    [ ${#missing[@]} = 0 ] || install_on_host "${missing[@]}"
    return
  fi
  command -v newuidmap >/dev/null || missing+=(uidmap)
  [ ${#missing[@]} = 0 ] ||
    die "missing on this machine: ${missing[*]}. Once, as root:
  apt-get install --no-install-recommends ${missing[*]}"
}

require_namespaces() {
  local reason
  if [ "$EUID" = 0 ]; then
    reason=$(unshare --mount true 2>&1) ||
      die "root may not make mount namespaces here ($reason): start the container with CAP_SYS_ADMIN, or use a virtual machine"
    return
  fi
  reason=$(unshare --user --map-root-user true 2>&1) ||
    die "ordinary users may not make user namespaces here ($reason). As root, set sysctl user.max_user_namespaces above 0 and, where
  they exist, kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0; or run this as root"
  unshare --user --map-root-user --map-auto true 2>/dev/null ||
    die "user '$(id -un)' has no range of subordinate ids, which unpacking packages needs. Once, as root:
  usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $(id -un)"
}

require_space() {
  local free
  free=$(($(df -Pk "$base" | awk 'NR == 2 {print $4}') / 1024))
  [ "$free" -ge "$need_mib" ] ||
    die "$free MiB free in $base, the toolchain needs $need_mib: free some, or set XDG_CACHE_HOME to a folder of a larger disk"
}

preflight() {
  [ "$HOSTTYPE" = x86_64 ] || say "warning: the toolchain was only tried on x86_64, this is $HOSTTYPE"
  if [ "$EUID" = 0 ] && [ -n "${SUDO_UID:-}" ] && [ -n "${HOME:-}" ] && [ "$(stat -c %u "$HOME")" != 0 ]; then
    die "run this without sudo: it would leave files of root in $HOME"
  fi
  require_space
  require_packages
  require_namespaces
}
