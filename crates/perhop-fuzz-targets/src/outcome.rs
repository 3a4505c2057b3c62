//! The answer of a target to an input, and the reader of structures from bytes.

use arbitrary::{Arbitrary, Unstructured};

/// Whether an input reached what is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did: worth a place in the corpus.
    Kept,
    /// The input is too large, or not an input of the target.
    Refused,
}

/// Runs `target` on what `bytes` say, in `arbitrary`'s coding; bytes that are too few are refused.
pub(crate) fn structured<T: for<'bytes> Arbitrary<'bytes>>(
    bytes: &[u8],
    target: impl FnOnce(&T) -> Outcome,
) -> Outcome {
    if bytes.len() < T::size_hint(0).0 {
        return Outcome::Refused;
    }
    T::arbitrary_take_rest(Unstructured::new(bytes)).map_or(Outcome::Refused, |input| target(&input))
}
