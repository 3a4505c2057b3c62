//! [`Filter`]: a filter with its condition and actions.

use super::bits::Bits;
use super::condition::Condition;
use crate::options::Options;

/// A filter.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// The class or hook to which the filter is attached, or the number of the discipline if the filter is
    /// attached to the discipline itself.
    pub(crate) parent: u32,
    pub(crate) preference: u32,
    pub(crate) chain: u32,
    /// The lines of the filter. The output of `show` has several lines per filter.
    pub(crate) lines: Vec<usize>,
    /// The handle in the notation of the command.
    pub(crate) handle: Option<String>,
    pub(crate) kind: String,
    pub(crate) condition: Condition,
    /// The header bits that packets must have. Further lines of `show` add bits.
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
    /// `gact`: the control of the packet.
    End(Control),
    /// Writes the type of service byte under a mask.
    Mark {
        value: u8,
        mask: u8,
    },
    /// Sets the firewall mark.
    Label(u8),
    /// An action without effect on packets in perhop.
    Nothing,
    /// An action outside the model, which is reported.
    Unseen,
}

/// The next step of a packet after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Pass,
    Drop,
    /// Continue with the next filter.
    Continue,
    /// Continue with the next action.
    Pipe,
    /// Restart at the first filter.
    Reclassify,
    /// Continue with the filters of another chain.
    Goto(u32),
}

/// A policer.
#[derive(Clone, Debug)]
pub(crate) struct Police {
    pub(crate) options: Options,
    /// The index of the policer. Policers with the same index share their state.
    pub(crate) index: Option<u64>,
    pub(crate) exceed: Control,
    pub(crate) conform: Control,
}
