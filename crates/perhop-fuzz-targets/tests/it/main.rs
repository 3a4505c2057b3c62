//! Replays the fuzz targets without libFuzzer.

#[path = "../../../perhop-live/tests/it/frames/mod.rs"]
mod frames;
mod inputs;
mod replay;
