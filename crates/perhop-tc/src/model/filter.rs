//! [`Filter`]: the packets that it takes, and its actions.

use super::bits::Bits;
use super::condition::Condition;
use crate::options::Options;

/// A filter.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// The class or hook that it is at; the discipline's own number for the discipline.
    pub(crate) parent: u32,
    pub(crate) preference: u32,
    pub(crate) chain: u32,
    /// Its lines: the output of `show` has several for one.
    pub(crate) lines: Vec<usize>,
    /// Its number among those of its preference, as it is written.
    pub(crate) handle: Option<String>,
    pub(crate) kind: String,
    pub(crate) condition: Condition,
    /// What it demands of the bits of a header, for lines of `show` that add to it.
    pub(crate) bits: Bits,
    pub(crate) class: Option<u32>,
    pub(crate) actions: Vec<Action>,
}

impl Filter {
    pub(crate) fn line(&self) -> usize {
        self.lines.first().copied().unwrap_or(1)
    }
}

/// One action.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Police(Police),
    /// What `gact` does: the packet goes where this says.
    End(Control),
    /// Writes a codepoint: the byte of the type of service, and which of its bits.
    Mark {
        value: u8,
        mask: u8,
    },
    /// Gives the packet a mark of the firewall.
    Label(u8),
    /// Nothing that packets of perhop would notice.
    Nothing,
    /// Something that perhop does not do; it has been said.
    Unseen,
}

/// Where a packet goes after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Pass,
    Drop,
    /// To the next filter.
    Continue,
    /// To the next action.
    Pipe,
    /// To the first filter again.
    Reclassify,
    /// To the filters of another chain.
    Goto(u32),
}

/// A policer.
#[derive(Clone, Debug)]
pub(crate) struct Police {
    pub(crate) options: Options,
    /// Its number; policers of one number are one.
    pub(crate) index: Option<u64>,
    pub(crate) exceed: Control,
    pub(crate) conform: Control,
}
