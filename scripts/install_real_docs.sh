#!/bin/sh
# Installs documentation packages whose HTML `make check-real` and `make bench` crawl: pages nobody
# here wrote.
# Does nothing if they are there already. Without apt it says so and ends with 0: nothing to check.
set -eu

PACKAGES="debian-reference-en libboost-doc postgresql-doc python3-doc sqlite3-doc"

if ! command -v apt-get >/dev/null 2>&1; then
    echo "install_real_docs: no apt-get here; the check of real documentation is skipped" >&2
    exit 0
fi
missing=""
for package in $PACKAGES; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" ||
        missing="$missing $package"
done
if [ -z "$missing" ]; then
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "install_real_docs: needs root or sudo to install$missing" >&2
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
