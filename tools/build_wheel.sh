#!/usr/bin/env bash
# Build the wheel, and the source distribution, into the given folder. The same commit gives the same bytes
# for any folder, user and day: the date is the commit's, and paths are removed from the binary.
set -euo pipefail
out=$(realpath --canonicalize-missing "${1:?the folder to write to}")
maturin=${MATURIN:-maturin}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# Panics name the source file. The flags are separated by 0x1f: a folder's name may hold a space.
flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
flags+=$'\x1f'"--remap-path-prefix=$PWD=/perhop"
export SOURCE_DATE_EPOCH CARGO_ENCODED_RUSTFLAGS=$flags
# The source distribution comes first, because it takes seconds and the wheel minutes: errors show earlier.
"$maturin" sdist --out "$out"
"$maturin" build --release --locked --quiet --out "$out"
