//! Every fuzz target runs on its seeds and on random inputs in an ordinary test. A panic of the target fails
//! the test.
//!
//! `PERHOP_REPLAY_SEED` selects other random inputs. `PERHOP_REPLAY_RUNS` sets the number of random inputs
//! for each target.

use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use perhop_fuzz_targets::{Outcome, TARGETS, Target};

use crate::inputs::{Inputs, seeds};

/// Declares one test for each target, and the list of their names. The number in each line is the number of
/// random inputs. It is chosen so that each target needs about two seconds of CPU time.
macro_rules! replayed {
    ($($target:ident: $runs:literal,)*) => {
        const REPLAYED: &[&str] = &[$(stringify!($target)),*];
        $(
            #[test]
            fn $target() {
                replay(stringify!($target), perhop_fuzz_targets::$target, number("PERHOP_REPLAY_RUNS", $runs));
            }
        )*
    };
}

replayed! {
    buffer: 1000,
    capture: 1000,
    configuration: 100,
    frame: 1000,
    meter: 1000,
    port: 1000,
    scenario: 100,
    scheduler: 1000,
    tc_commands: 100,
    tcp: 1000,
}

/// Reads the number in the environment variable `variable`.
fn number(variable: &str, default: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{variable} is {text:?}: {error}")),
        Err(_) => default,
    }
}

/// Runs `target` on its seeds, then on `runs` random inputs.
///
/// # Panics
/// If `target` panics. The message contains the input's number and its file.
fn replay(name: &str, target: Target, runs: u64) {
    let seed = number("PERHOP_REPLAY_SEED", 1);
    let seeds = seeds(name);
    println!("{name}: {} seeds, {runs} random inputs of PERHOP_REPLAY_SEED={seed}", seeds.len());
    let mut inputs = Inputs::new(name, seed, &seeds);
    let random = (0..runs).map(|_| inputs.draw());
    let mut kept = 0;
    for (index, input) in seeds.iter().cloned().chain(random).enumerate() {
        let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| target(&input))) else {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{name}"));
            let written = fs::write(&path, &input).map_or_else(|error| error.to_string(), |()| String::new());
            panic!(
                "{name}: input {index} of PERHOP_REPLAY_SEED={seed} fails; its {} bytes are in {} {written}",
                input.len(),
                path.display()
            );
        };
        kept += u64::from(outcome == Outcome::Kept);
    }
    println!("{name}: {kept} reached the tested code");
    // A target that rejects all inputs checks nothing.
    assert!(kept > 0, "{name}: none of {runs} inputs reached the tested code");
}

/// Every target of libFuzzer is also replayed here under its own name.
#[test]
fn every_target_is_replayed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut fuzzed = Vec::new();
    for entry in fs::read_dir(folder).expect("the targets of libFuzzer") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let calls = format!("perhop_fuzz_targets::{name}(bytes)");
        assert!(fs::read_to_string(&path).expect("a text").contains(&calls), "{name} does not call {calls}");
        fuzzed.push(name);
    }
    fuzzed.sort();
    assert_eq!(fuzzed, REPLAYED);
    assert_eq!(fuzzed, TARGETS.map(|(name, _)| name));
}

fn fails_on_an_early_seven(bytes: &[u8]) -> Outcome {
    assert!(!bytes.iter().take(4).any(|byte| *byte == 7), "a seven");
    Outcome::Kept
}

#[test]
#[should_panic(expected = "failing: input ")]
fn a_panic_of_a_target_fails_its_test() {
    replay("failing", fails_on_an_early_seven, 100_000);
}
