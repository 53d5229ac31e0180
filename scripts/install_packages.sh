#!/bin/sh
# install_packages.sh PACKAGE...: installs those Debian packages that are missing.
# Without apt it says what is left out and ends with 0: whoever needs it skips, and says so too.
set -eu

if ! command -v apt-get >/dev/null 2>&1; then
    echo "no apt-get here; left out: $*" >&2
    exit 0
fi
missing=""
for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" ||
        missing="$missing $package"
done
if [ -z "$missing" ]; then
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "needs root or sudo to install$missing" >&2
        exit 1
    fi
    as_root="sudo"
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # words are meant to be split
if ! $as_root apt-get install -y -q --no-install-recommends $missing; then
    $as_root apt-get update -q
    $as_root apt-get install -y -q --no-install-recommends $missing
fi
