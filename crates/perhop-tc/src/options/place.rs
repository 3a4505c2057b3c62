//! Where options stand, and what could not be read of them.

/// Where options stand, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The line.
    pub(crate) line: usize,
    /// What takes them: `fq_codel`.
    pub(crate) of: &'a str,
}

/// What a table could not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// tc refuses the command; it has been said.
    Refused,
}
