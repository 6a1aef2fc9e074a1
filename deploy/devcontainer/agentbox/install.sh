#!/bin/sh
# Run as root while the image of the development container is built. The release
# is part of the feature, so nothing is downloaded.
set -eu
cd "$(dirname "$0")"
exec sh release/install.sh --from release --prefix "${PREFIX:-/usr/local}"
