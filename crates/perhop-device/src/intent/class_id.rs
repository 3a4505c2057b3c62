//! [`ClassId`]: the place of a class in its tree.

/// The index of a class in its tree. The classes of the outermost policy precede inner classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassId(pub usize);
