#!/bin/sh
# Installs what some tests need beyond Python: PostgreSQL, of which they start a server of their own.
# Where it cannot be had they are skipped, and say so.
set -eu

for program in "$(command -v initdb || true)" /usr/lib/postgresql/*/bin/initdb; do
    [ -x "$program" ] && exit 0
done
"$(dirname "$0")/install_packages.sh" postgresql
