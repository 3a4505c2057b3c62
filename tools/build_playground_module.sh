#!/usr/bin/env bash
# Build the engine as a WebAssembly module into the given file, with a profile of Cargo.toml: with rustup's target, or
# with Debian's compiler (rustc-web) and its sources of the standard library (rust-web-src), which are then built as well.
#   tools/build_playground_module.sh FILE [PROFILE]
#   tools/build_playground_module.sh --check    only whether one of the two is here; exit code 5 if not
set -euo pipefail
given=${1:?the file to write, or --check}
out=$(realpath --canonicalize-missing -- "$given")
profile=${2:-web}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=wasm32-unknown-unknown
toolchain=$(rustc --print sysroot)
options=(--package perhop-web --profile "$profile" --target "$target" --target-dir target/playground --locked --quiet)
# Panics name the source file. The flags are separated by 0x1f: a folder's name may hold a space.
flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
flags+=$'\x1f'"--remap-path-prefix=$PWD=/perhop"
export CARGO_ENCODED_RUSTFLAGS=$flags
# A job server of make does not reach cargo through this script.
unset MAKEFLAGS MFLAGS

build() {
  [ "$given" = --check ] || "$@"
}

if [ -d "$toolchain/lib/rustlib/$target" ]; then
  build cargo build "${options[@]}"
elif [ -x /usr/bin/rustc ] && [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/std" ]; then
  host=$(rustc -vV | sed -n 's/^host: //p')
  linker=$toolchain/lib/rustlib/$host/bin/rust-lld
  [ -x "$linker" ] || { echo "error: $linker is missing; it comes with Rust from https://rustup.rs" >&2; exit 5; }
  # Building the standard library is not a stable feature of cargo. RUSTC_BOOTSTRAP lets the module's build alone use it.
  export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker
  build "$toolchain/bin/cargo" build "${options[@]}" -Zbuild-std=std,panic_abort
else
  echo "error: no Rust for WebAssembly; run: rustup target add $target" >&2
  echo "       or on Debian: apt-get install --no-install-recommends rustc-web rust-web-src" >&2
  exit 5
fi
[ "$given" != --check ] || exit 0
mkdir -p "$(dirname "$out")"
cp "target/playground/$target/$profile/perhop_web.wasm" "$out"
