//! [`ClassId`]: the place of a class in its tree.

/// The place of a class in its tree, the outermost policy's classes before those inside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassId(pub usize);
