# shellcheck shell=bash
# What ./run, ./test and .ci/run share: packages, and the build. Sourced by them from the repository's root.
#
# ASKBASE_SKIP_INSTALL=1  look for no packages: for other systems, at one's own risk
# ASKBASE_JOBS=N          compile N files at once; by default as many as processors and memory allow

say() { printf '%s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$1" >&2
  [[ $# -lt 2 ]] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

# shellcheck disable=SC2034  # read by whoever sources this
build_packages=(
  g++ cmake ninja-build pkg-config librocksdb-dev libicu-dev nlohmann-json3-dev libspdlog-dev libexpected-dev
  libserd-dev libcpp-httplib-dev libcli11-dev libstemmer-dev zlib1g-dev libzstd-dev libssl-dev libeigen3-dev libdnnl-dev libhnswlib-dev
)
# shellcheck disable=SC2034
test_packages=(doctest-dev python3 curl)

is_installed() {
  [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == *" installed" ]]
}

os_release() { sed -n "s/^$1=//p" /etc/os-release | tr -d '"'; }

# Runs apt-get as root, quietly; its words are shown when it fails.
apt_get() {
  local log status=0 as_root=()
  if [[ $EUID -ne 0 ]]; then as_root=(sudo); fi
  log=$(mktemp)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" \
    >"$log" 2>&1 </dev/null || status=$?
  if [[ $status -ne 0 && ${apt_quiet:-0} -eq 0 ]]; then tail -n 20 "$log" >&2; fi
  rm -f "$log"
  return "$status"
}

# Installs the packages that are missing; refuses systems that nobody tested.
install_packages() {
  [[ -z ${ASKBASE_SKIP_INSTALL:-} ]] || return 0
  local id=unknown version='' name='this system'
  if [[ -r /etc/os-release ]]; then
    id=$(os_release ID)
    version=$(os_release VERSION_ID)
    name=$(os_release PRETTY_NAME)
  fi
  case "$id $version" in
    "debian 12" | "debian 13" | "ubuntu 24.04") ;;
    *)
      die "$name is not a system that askbase installs itself on (Debian 12, Debian 13, Ubuntu 24.04)" \
        "install what these Debian packages hold, then set ASKBASE_SKIP_INSTALL=1: $*"
      ;;
  esac
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
    die "these packages are missing, and there is no sudo to install them: ${missing[*]}" \
      "as root: apt-get install ${missing[*]}"
  fi
  say "Installing ${missing[*]} ..."
  # The lists may be old or absent: they are only fetched when the first try fails.
  if ! apt_quiet=1 apt_get install -y --no-install-recommends "${missing[@]}"; then
    apt_get update || die "apt-get update failed" "see that this machine reaches its package mirror"
    apt_get install -y --no-install-recommends "${missing[@]}" ||
      die "could not install ${missing[*]}" "try: apt-get install ${missing[*]}"
  fi
}

# How many files to compile at once: one a processor, but 1.2 GB of memory for each.
job_count() {
  if [[ -n ${ASKBASE_JOBS:-} ]]; then
    printf '%s' "$ASKBASE_JOBS"
    return
  fi
  local processors megabytes by_memory
  processors=$(nproc)
  megabytes=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  by_memory=$((megabytes / 1200))
  if [[ $by_memory -lt 1 ]]; then by_memory=1; fi
  printf '%s' "$((processors < by_memory ? processors : by_memory))"
}

# build_targets LOG CONFIGURE_OPTIONS... -- TARGETS...: configures and builds build/release. Prints a line when
# there is something to do, and the whole complaint when it fails.
build_targets() {
  local log=$1 options=() started=$SECONDS
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  mkdir -p build
  if ! cmake --preset release "${options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    die "the build could not be configured" "the whole log is in $log"
  fi
  if ninja -C build/release -n "$@" 2>/dev/null | grep -q 'no work to do'; then return 0; fi
  say "Building in build/release (the first time takes a few minutes) ..."
  if ! ninja -C build/release -j "$(job_count)" "$@" >"$log" 2>&1; then
    grep -v '^\[' "$log" | head -n 60 >&2
    die "the build failed" "the whole log is in $log"
  fi
  say "Built in $((SECONDS - started)) s."
}
