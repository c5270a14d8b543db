#!/bin/sh
# Runs a command in another root, as the only root there is: `sh enter-root.sh ROOT USER [FROM:TO ...] -- COMMAND ...`.
# Each FROM is mounted at TO in it. It wants to be run as root, in mount and process namespaces of its own
# (scripts/roots.mjs). With NO_PROC it is a system that tells nothing of processes, as macOS. In a plain chroot there would be no user namespaces, and bwrap would leave no sudo.
set -eu
root=$1
user=$2
shift 2
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  mkdir -p "$root${1#*:}"
  mount --rbind "${1%%:*}" "$root${1#*:}"
  shift
done
shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
cd "$root"
mkdir -p .host
pivot_root . .host
umount -l /.host
cd /
[ -z "${NO_PROC:-}" ] || mount -t tmpfs tmpfs /proc
exec setpriv --reuid="$user" --regid="$user" --init-groups --reset-env -- "$@"
