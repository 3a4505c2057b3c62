//! The targets of `perhop-fuzz-targets` for libFuzzer.

use libfuzzer_sys::Corpus;
use perhop_fuzz_targets::Outcome;

/// Whether an input that did not fail is stored in the corpus.
pub fn corpus(outcome: Outcome) -> Corpus {
    match outcome {
        Outcome::Kept => Corpus::Keep,
        Outcome::Refused => Corpus::Reject,
    }
}
