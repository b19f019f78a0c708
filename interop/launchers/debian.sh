#!/usr/bin/env bash
# Unpacks packages of Debian into a folder: installed they would begin to serve. Usage: debian.sh FOLDER PACKAGE...
set -euo pipefail
folder=$1
shift
[ "$(cat "$folder/packages" 2>/dev/null)" = "$*" ] && exit
mkdir -p "$folder"
cd "$folder"
fetch() { apt-get download -qq "$@" 2>/dev/null; }
[ "$(id -u)" = 0 ] && as_root=() || as_root=(sudo)
# Where nothing was installed yet the lists may be missing.
fetch "$@" || { "${as_root[@]}" apt-get update -qq && fetch "$@"; }
for package in *.deb; do
    dpkg-deb -x "$package" .
    rm "$package"
done
echo "$*" >packages
