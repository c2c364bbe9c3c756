# shellcheck shell=bash disable=SC2154 # common.sh sets what is used here
# Sourced: makes the toolchain root, whole or not at all. It grows in DIGEST.part and is renamed when it is complete; a lock
# in the cache folder lets one process work and the others wait. Whatever kills the maker (SIGKILL too) leaves no process, no
# mount and no half-made root that could be taken for a finished one.

# One command as (mapped) root in mount and pid namespaces of its own, which the kernel takes down, mounts and all, when this
# script dies. --kill-child alone is not enough: unshare ignores INT and TERM while it waits.
isolated=(setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child=KILL --mount-proc)
mapped=()
if [ "$EUID" != 0 ]; then mapped=(--user --map-root-user --map-auto); fi

# A half-made root holds files of subordinate ids, which an ordinary user can't delete as himself.
remove() {
  if [ "$EUID" = 0 ]; then rm -rf --one-file-system -- "$@"; else unshare "${mapped[@]}" rm -rf --one-file-system -- "$@"; fi
}

explain_failure() { # LOG
  if grep -qE 'Could not (resolve|connect)|Temporary failure|Cannot initiate|Network is unreachable|Connection (timed out|refused)|Err:.*[45][0-9][0-9]' "$1"; then
    echo "the package mirror could not be reached. Check the network and apt's proxy settings, or set MONOJIT_DEBIAN_MIRROR; then run this again"
  elif grep -q 'No space left' "$1"; then
    echo "the disk is full"
  elif grep -qE 'Unable to locate package|no installation candidate|unmet dependencies|held broken|unsatisfiable' "$1"; then
    echo "the mirror no longer offers this combination of packages: the suite has moved on, and tools/toolchain/packages needs a look"
  elif grep -qE 'NO_PUBKEY|is not signed|GPG error|EXPKEYSIG' "$1"; then
    echo "the archive's signature did not check: is the package debian-archive-keyring too old?"
  else
    echo "see the log"
  fi
}

# The options that mmdebstrap needs whatever the packages.
mmdebstrap_options() { # -> array `options`
  local protocol proxy
  options=(
    --mode=root --variant=apt --format=directory
    # A mirror's index of testing can be older than its Valid-Until allows. Signatures are still checked.
    --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"'
    # apt's sandbox user could not write to the folder of downloads, which is the caller's.
    --aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"'
    # A root whose making is interrupted is thrown away: no need to sync each file.
    --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*'
    --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*'
    --skip=download/empty --skip=essential/unlink
  )
  # mmdebstrap starts from an empty apt configuration: hand this machine's proxy on.
  for protocol in http https; do
    proxy=$(apt-config dump --format '%v%n' "Acquire::$protocol::Proxy" 2>/dev/null | head -n 1)
    [ -z "$proxy" ] || options+=(--aptopt="Acquire::$protocol::Proxy \"$proxy\"")
  done
}

# Runs isolated, as (mapped) root. Downloads are kept in a folder outside of the root, where they outlive an interruption. The
# empty files are places to mount the host's on, as the root is read-only in use.
populate_root() { # PART DOWNLOADS MIRROR KEYRING SUITE EXTRA_SUITE EXTRA INSTALL MMDEBSTRAP_OPTION...
  local part=$1 mirror=$3 keyring=$4 suite=$5 extra_suite=$6 extra=$7 install=$8 pins
  export downloads=$2
  shift 8
  pins=$(mktemp)
  export pins
  printf 'Package: %s\nPin: release a=%s\nPin-Priority: 990\n' "$extra" "$extra_suite" >"$pins"
  chmod 644 "$pins"
  # shellcheck disable=SC2016 # hooks are expanded by mmdebstrap's shell
  mmdebstrap "$@" --include="$install" \
    --setup-hook='install -D -m 644 "$pins" "$1"/etc/apt/preferences.d/extra-suite' \
    --setup-hook='mkdir -p "$1"/var/cache/apt/archives && mount --bind "$downloads" "$1"/var/cache/apt/archives' \
    --customize-hook='umount "$1"/var/cache/apt/archives' \
    --customize-hook='touch "$1"/etc/resolv.conf "$1"/etc/hosts' \
    --customize-hook='chroot "$1" dpkg-query -W >"$1"/etc/monojit-toolchain-versions' \
    "$suite" "$part" - <<SOURCES
deb [signed-by=$keyring] $mirror $suite main
deb [signed-by=$keyring] $mirror $extra_suite main
SOURCES
  rm -f "$pins"
}

maker= # the process that populates, while there is one
interrupted() { # STATUS
  trap '' INT TERM HUP
  if [ -n "$maker" ]; then
    kill -KILL "$maker" 2>/dev/null || true
    wait "$maker" 2>/dev/null || true
  fi
  remove "$base"/*.part
  say "interrupted; downloads are kept, the next run goes on from there"
  exit "$1"
}

# The log whole in a file, the stages on the screen.
show_stages() { # LOG
  tee "$1" | sed -un 's/^I: \(running apt-get update\|downloading\|extracting\|installing\|cleaning\).*/  \1/p' >&2
}

build_root() {
  local part=$base/$digest.part downloads=$base/downloads log=$base/$digest.log options squash=
  mkdir -p "$downloads"
  mmdebstrap_options
  # As an ordinary user make every file his own in the end, so that a plain rm -r works.
  # shellcheck disable=SC2016 # expanded by the shell below
  if [ "$EUID" != 0 ]; then squash='chown -hR 0:0 "$1"'; fi
  say "setting up the toolchain, once: about 400 MB to fetch, 2 GB on disk, a minute or two (log: $log)"
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  trap 'interrupted 129' HUP
  "${isolated[@]}" "${mapped[@]}" bash -euc "$(declare -f populate_root); populate_root \"\$@\"; $squash" populate \
    "$part" "$downloads" "$(debian_mirror)" "$keyring" "$suite" "$extra_suite" "${extra[*]}" "$(IFS=,; echo "${install[*]}")" \
    "${options[@]}" </dev/null > >(show_stages "$log") 2>&1 &
  maker=$!
  if ! wait "$maker"; then
    maker=
    trap - INT TERM HUP
    remove "$base"/*.part
    grep -v '^$' "$log" | tail -n 8 | cut -c 1-300 | sed 's/^/  | /' >&2
    die "could not set up the toolchain: $(explain_failure "$log") (log: $log)"
  fi
  maker=
  printf '%s\n' "$digest" >"$part$inside_file"
  : >"$part/.complete"
  mv -T "$part" "$root" # the moment at which the root appears, whole
  trap - INT TERM HUP
  remove "$downloads"
}

# Makes the root unless it is there or another process makes it meanwhile.
make_root() {
  mkdir -p "$base" 2>/dev/null || die "can't create $base: set XDG_CACHE_HOME to a folder that you may write to"
  { exec 8>"$base/lock"; } 2>/dev/null || die "can't write to $base: set XDG_CACHE_HOME to a folder that you may write to"
  if ! flock --nonblock 8; then
    say "another process is setting up the toolchain in $base: waiting for it"
    flock 8
  fi
  if [ ! -e "$root/.complete" ]; then
    preflight
    remove "$base"/*.part # we hold the lock: whatever is half-made has no owner
    build_root
    say "the toolchain is ready"
  fi
  exec 8>&-
}

# Roots of other recipes, 2 GB each. One in use is left alone.
prune_roots() {
  local other
  mkdir -p "$base"
  exec 8>"$base/lock"
  flock --nonblock 8 || die "a toolchain is being set up in $base: try again when that is done"
  for other in "$base"/????????????????; do
    if [ ! -e "$other/.complete" ] || [ "$other" = "$root" ]; then continue; fi
    exec 9<"$other/.complete"
    if flock --exclusive --nonblock 9; then
      mv -T "$other" "$other.part"
      remove "$other.part"
      say "removed $other"
    else
      say "in use, left alone: $other"
    fi
    exec 9<&-
  done
  remove "$base"/*.part "$base/downloads"
}
