#!/bin/sh
# Makes sure that this machine has what live-lisp needs: node and SBCL. Where it installs SBCL, it installs bubblewrap too,
# for the sandbox; where SBCL is there already, it asks nobody for the rights to install bubblewrap. With the argument `test`
# it installs bubblewrap, openssh-server, which tests start for themselves, the Lisp libraries that the tests declare
# (tests/libraries.ts), Emacs with SLIME, gpg, with which Emacs encrypts, Chromium, which shows the page, and an ASDF besides
# SBCL's. With `long` also tmux, in which clients run, buildah, which makes the image of the Dockerfile, and the libraries of the long tests. With
# `fresh` it has debootstrap, which makes bare systems.
# Installs only what is missing, and says so.
set -eu

# Prints the problem $1 and, in lines of their own, what to do about it.
fail() {
  printf 'setup: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

check_node() {
  command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 ||
    fail 'node or npm is missing. Install Node 20.19 or newer: https://nodejs.org/en/download'
  version=$(node --version)
  numbers=${version#v}
  major=${numbers%%.*}
  rest=${numbers#*.}
  minor=${rest%%.*}
  if [ "$major" -lt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -lt 19 ]; }; then
    fail "node is $version, too old. Install Node 20.19 or newer: https://nodejs.org/en/download"
  fi
}

# Tells whether apt-get has the package $1, as far as its lists are there.
is_offered() {
  command -v apt-get >/dev/null 2>&1 || return 0
  [ -n "$(find /var/lib/apt/lists -name '*_Packages*' 2>/dev/null)" ] || return 0
  apt-cache policy "$1" | grep -q 'Candidate: [0-9]'
}

# Ubuntu has Chromium only as a snap, which reads no files of the tests.
say_without_chromium() {
  echo 'setup: this system has no package chromium, so the tests of the page will fail.' >&2
  echo '  To install one: npm ci && npx playwright-core install --with-deps chromium-headless-shell' >&2
  echo '  Or set CHROMIUM to the path of a Chromium or Chrome that is no snap.' >&2
}

# Adds to $missing the Debian packages that are not there.
find_missing() {
  missing=''
  case $1 in long | fresh) [ -e /usr/share/debootstrap ] || missing=' debootstrap' ;; esac
  [ "$1" != fresh ] || return 0
  if [ -n "${LIVE_LISP_SBCL:-}" ]; then
    command -v "$LIVE_LISP_SBCL" >/dev/null 2>&1 ||
      fail "LIVE_LISP_SBCL names $LIVE_LISP_SBCL, which is no program. Correct it, or unset it to use sbcl on PATH."
  elif ! command -v sbcl >/dev/null 2>&1; then
    missing="$missing sbcl"
  fi
  bubblewrap=' bubblewrap'
  ! command -v bwrap >/dev/null 2>&1 || bubblewrap=''
  if [ "$1" = run ]; then
    [ -z "$missing" ] || ! command -v apt-get >/dev/null 2>&1 || missing="$missing$bubblewrap"
    return 0
  fi
  libraries=$(node "$(dirname "$0")/libraries.mjs" --missing "$1")
  missing="$missing${libraries:+ $libraries}"
  missing="$missing$bubblewrap"
  [ -x /usr/sbin/sshd ] || command -v sshd >/dev/null 2>&1 || missing="$missing openssh-server"
  if ! node "$(dirname "$0")/chromium.mjs"; then
    if is_offered chromium; then missing="$missing chromium"; else say_without_chromium; fi
  fi
  command -v emacs >/dev/null 2>&1 || missing="$missing emacs-nox"
  command -v gpg >/dev/null 2>&1 || missing="$missing gpg"
  [ -n "$(find /usr/share/emacs/site-lisp -maxdepth 2 -name 'slime*' 2>/dev/null)" ] || missing="$missing slime"
  [ "$1" = long ] || return 0
  for program in tmux buildah; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
  done
}

# Prints the command that installs what is missing where this script cannot.
install_command() {
  case $missing in
    *cl-*) echo "apt-get install$missing (Debian packages; the tests load them from /usr/share/common-lisp)" && return ;;
    *bubblewrap* | *openssh-server* | *chromium* | *emacs* | *gpg* | *slime* | *tmux*) echo "apt-get install$missing (or the packages of these names of this system)" && return ;;
  esac
  names=$(uname -s)
  if [ -r /etc/os-release ]; then names="$names $(. /etc/os-release && echo "${ID:-} ${ID_LIKE:-}")"; fi
  case $names in
    *Darwin*) echo 'brew install sbcl' ;;
    *debian* | *ubuntu*) echo 'apt-get install sbcl' ;;
    *fedora* | *rhel* | *centos*) echo 'dnf install sbcl' ;;
    *arch*) echo 'pacman -S sbcl' ;;
    *suse*) echo 'zypper install sbcl' ;;
    *alpine*) echo 'apk add sbcl' ;;
    *) echo 'install SBCL as https://www.sbcl.org/platform-table.html says' ;;
  esac
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install_missing() {
  command -v apt-get >/dev/null 2>&1 || fail "Missing:$missing. Install with:" "$(install_command)"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
    fail "Missing:$missing, and there is no sudo. Run as root:" "$(install_command)"
  fi
  echo "setup: installing$missing"
  as_root apt-get update -qq || echo 'setup: apt-get update failed; trying with the package lists that are there' >&2
  case "$missing " in *' chromium '*)
    if ! is_offered chromium; then
      missing=$(printf '%s' "$missing" | sed 's/ chromium\( \|$\)/\1/')
      say_without_chromium
    fi
    ;;
  esac
  # shellcheck disable=SC2086 # one word a package
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null ||
    fail "Could not install. Run as root and see why:" "$(install_command)"
  # Nobody has asked for a server that other machines can reach.
  case $missing in *openssh-server*) as_root systemctl disable --now ssh >/dev/null 2>&1 || : ;; esac
}

# Unpacks Debian's ASDF for the tests. Installed it would be the ASDF of everybody on this machine.
unpack_asdf() {
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/live-lisp-tests
  [ ! -d "$folder/usr/share/common-lisp/source/cl-asdf" ] || return 0
  command -v apt-get >/dev/null 2>&1 || fail 'The tests need the Debian package cl-asdf, and this system has no apt-get.'
  echo 'setup: unpacking cl-asdf'
  mkdir -p "$folder"
  (cd "$folder" && apt-get download -qq cl-asdf && dpkg -x cl-asdf_*.deb . && rm cl-asdf_*.deb) >/dev/null 2>&1 ||
    fail "Could not unpack cl-asdf. Run this and see why:" "cd $folder && apt-get download cl-asdf && dpkg -x cl-asdf_*.deb ."
}

# Says that the ASDF of Debian, where it is installed, makes tests fail.
say_of_asdf() {
  [ -d /usr/share/common-lisp/source/cl-asdf ] || return 0
  echo 'setup: cl-asdf is installed. Each image then compiles that ASDF, for which the heaps of some tests are too small.' >&2
  echo '  To run the tests: apt-get remove cl-asdf (cl-clx-sbcl of the long tests brings it)' >&2
}

check_node
find_missing "${1:-run}"
[ -z "$missing" ] || install_missing
case ${1:-run} in test | long) unpack_asdf && say_of_asdf ;; esac
