#!/usr/bin/env bash
# Build the wheel and the source distribution, and write them to the given folder. The same commit results in the
# same bytes for any folder, user and day: the date is that of the commit, and paths are removed from the binary.
set -euo pipefail
out=$(realpath --canonicalize-missing "${1:?the folder to write to}")
maturin=${MATURIN:-maturin}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# Panics contain the path of the source file. 0x1f separates the flags, because folder names may contain spaces.
flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
flags+=$'\x1f'"--remap-path-prefix=$PWD=/perhop"
export SOURCE_DATE_EPOCH CARGO_ENCODED_RUSTFLAGS=$flags
# The source distribution is built first: it takes seconds, and the wheel takes minutes, so errors appear earlier.
"$maturin" sdist --out "$out"
"$maturin" build --release --locked --quiet --out "$out"
