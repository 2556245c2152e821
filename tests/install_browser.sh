#!/bin/sh
# Debian's Chromium and npm for the page's tests, where they are missing; axe-core from npm.
set -eu
cd "$(dirname "$0")/web"
missing=""
command -v chromium >/dev/null || missing="chromium"
command -v npm >/dev/null || missing="$missing npm"
if [ -n "$missing" ]; then
  as_root=""
  [ "$(id -u)" = 0 ] || as_root="sudo"
  echo "Installing $missing for the page's tests ..."
  $as_root apt-get update -qq
  # shellcheck disable=SC2086 # one word a package
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
[ -d node_modules/axe-core ] || npm ci --silent --no-audit --no-fund
