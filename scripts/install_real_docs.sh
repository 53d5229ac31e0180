#!/bin/sh
# Installs documentation packages whose HTML `make check-real` and `make bench` crawl: pages nobody
# here wrote.
set -eu

"$(dirname "$0")/install_packages.sh" \
    debian-reference-en libboost-doc postgresql-doc python3-doc sqlite3-doc
