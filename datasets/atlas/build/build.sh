#!/bin/sh
# Rebuilds every file of datasets/atlas from its sources and checks the result. Tested on Debian 12 with its iso-codes
# 4.15.0 and bodr 10; another release of iso-codes may change some Chinese names.
set -eu
cd "$(dirname "$0")"
missing=
for package in iso-codes bodr; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
command -v node >/dev/null 2>&1 || missing="$missing nodejs npm"
command -v python3 >/dev/null 2>&1 || missing="$missing python3"
if [ -n "$missing" ]; then
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update
  # shellcheck disable=SC2086
  $sudo apt-get install -y --no-install-recommends $missing
fi
npm ci --no-audit --no-fund
python3 build.py
python3 check.py
