//! [`Place`]: the position of options, for messages. [`Trouble`]: the error when options are read.

/// The position of options, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The line.
    pub(crate) line: usize,
    /// The discipline, class or action: `fq_codel`.
    pub(crate) of: &'a str,
}

/// The error of reading options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// tc refuses the command. The fault is already in the log.
    Refused,
}
