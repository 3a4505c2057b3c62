//! The result of a target for one input, and the conversion of bytes to structures.

use arbitrary::{Arbitrary, Unstructured};

/// Whether an input reached the tested code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The input reached the tested code, so the corpus keeps it.
    Kept,
    /// The input is too large, or is not an input of the target.
    Refused,
}

/// Runs `target` on the structure that `arbitrary` decodes from `bytes`. Returns [`Outcome::Refused`] if
/// there are too few bytes.
pub(crate) fn structured<T: for<'bytes> Arbitrary<'bytes>>(
    bytes: &[u8],
    target: impl FnOnce(&T) -> Outcome,
) -> Outcome {
    if bytes.len() < T::size_hint(0).0 {
        return Outcome::Refused;
    }
    T::arbitrary_take_rest(Unstructured::new(bytes)).map_or(Outcome::Refused, |input| target(&input))
}
