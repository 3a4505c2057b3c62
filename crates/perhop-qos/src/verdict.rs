//! [`Verdict`]: what becomes of a packet, and [`DropCause`]: why it was dropped.

use std::fmt;

use serde::Serialize;

/// What a conditioner or a buffer manager decided about one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It goes on with the congestion-experienced codepoint (RFC 3168).
    MarkCe,
    /// It ends here.
    Drop(DropCause),
}

/// Why a packet was dropped: every drop has exactly one cause and one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropCause {
    /// The queue was at its hard limit (tail drop).
    QueueFull,
    /// Active queue management drew the packet at random.
    EarlyRandom,
    /// Active queue management drew nothing: its average was at or above its maximum threshold, the packet
    /// had waited too long, or an acknowledgment behind it says more (CAKE's filter).
    EarlyForced,
    /// A traffic conditioner's action was to drop.
    Policed,
    /// The node has no route to the destination.
    NoRoute,
    /// No class of the port's policy takes the packet.
    NoClass,
    /// The wire lost it.
    Lost,
    /// It is longer than the interface sends, and may not be fragmented.
    TooBig,
}

impl DropCause {
    /// Every cause, in the order of their counters.
    pub const ALL: [DropCause; 8] = [
        DropCause::QueueFull,
        DropCause::EarlyRandom,
        DropCause::EarlyForced,
        DropCause::Policed,
        DropCause::NoRoute,
        DropCause::NoClass,
        DropCause::Lost,
        DropCause::TooBig,
    ];
    /// How many causes there are.
    pub const COUNT: usize = DropCause::ALL.len();

    /// Its place in [`DropCause::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropCause::QueueFull => "queue-full",
            DropCause::EarlyRandom => "early-random",
            DropCause::EarlyForced => "early-forced",
            DropCause::Policed => "policed",
            DropCause::NoRoute => "no-route",
            DropCause::NoClass => "no-class",
            DropCause::Lost => "lost",
            DropCause::TooBig => "too-big",
        }
    }
}

impl fmt::Display for DropCause {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.name())
    }
}
