#!/usr/bin/env bash
# Build the engine as a WebAssembly module, and write it to the given file. PROFILE is a profile of Cargo.toml. The
# compiler is that of rustup with the target for WebAssembly, or Debian's compiler (rustc-web). The latter also builds
# the standard library from Debian's sources (rust-web-src).
#   tools/build_playground_module.sh FILE [PROFILE]
#   tools/build_playground_module.sh --check    only checks whether one of the compilers exists; exit code 5 if not
set -euo pipefail
given=${1:?the file to write, or --check}
out=$(realpath --canonicalize-missing -- "$given")
profile=${2:-web}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=wasm32-unknown-unknown
toolchain=$(rustc --print sysroot)
options=(--package perhop-web --profile "$profile" --target "$target" --target-dir target/playground --locked --quiet)
# Panics contain the path of the source file. 0x1f separates the flags, because folder names may contain spaces.
flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
flags+=$'\x1f'"--remap-path-prefix=$PWD=/perhop"
export CARGO_ENCODED_RUSTFLAGS=$flags
# cargo cannot use a job server of make through this script.
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
  # The build of the standard library is an unstable feature of cargo. RUSTC_BOOTSTRAP permits it for this build only.
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
