//! [`Difference`]: the answer, as `perhop diff --json` prints it.

use serde::Serialize;
use serde_json::Value;

/// Everything that differs between two configurations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Difference {
    /// Packets that wait in another queue: one example for each pair of queues.
    pub moved: Vec<Moved>,
    /// Parts of the model that are different.
    pub changed: Vec<Changed>,
    /// Renamed parts with the same meaning.
    pub renamed: Vec<Renamed>,
    /// An example of the packets of each changed input conditioner.
    pub examples: Vec<Example>,
    /// The changed, added, removed or moved lines that are irrelevant, or whose effect the model contains.
    pub lines: Vec<LineChange>,
    /// The other changed lines. The model does not contain their effect.
    pub not_compared: Vec<LineChange>,
    /// Facts that the configurations do not contain.
    pub assumed: Vec<String>,
    /// Parts that the comparison left out.
    pub not_looked_at: Vec<String>,
    /// Interfaces that only one of the two configurations has.
    pub remarks: Vec<String>,
}

/// A packet that waits in another queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The interface through which it leaves.
    pub interface: String,
    /// The interface on which it arrives and whose input policy applies; `None` without an input policy.
    pub arrives: Option<String>,
    /// Its queue in the old configuration; `None` if no class matches it.
    pub before: Option<String>,
    /// Its queue in the new configuration.
    pub after: Option<String>,
    /// The packet, as it arrives.
    pub packet: String,
}

/// A part that is different.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// The interface; empty for the device.
    pub interface: String,
    /// The part: `queue VOICE`, `input conditioner V`, `interface`.
    pub part: String,
    /// The property of the part; empty if the whole part exists in one configuration only.
    pub what: String,
    /// Its value in the old configuration.
    pub before: Option<Value>,
    /// Its value in the new configuration.
    pub after: Option<Value>,
    /// For a match: a packet that matches in only one of the two configurations.
    pub packet: Option<String>,
}

/// A renamed part with the same meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// The interface.
    pub interface: String,
    /// The part in the old configuration.
    pub before: String,
    /// The part in the new configuration.
    pub after: String,
}

/// An example packet of a changed input conditioner, with its fate in both configurations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The interface on which it arrives.
    pub arrives: String,
    /// The conditioner.
    pub part: String,
    /// The interface through which it leaves.
    pub leaves: String,
    /// The packet, as it arrives.
    pub packet: String,
    /// Its fate in the old configuration.
    pub before: End,
    /// Its fate in the new configuration.
    pub after: End,
}

/// The fate of a packet in a node, for its first color.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// The packet, as it leaves.
    pub packet: String,
    /// Whether a conditioner drops it.
    pub dropped: bool,
    /// Its queue; `None` if it joins no queue.
    pub queue: Option<String>,
}

/// The relation of a changed line to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineEffect {
    /// The front end classifies it as irrelevant.
    Irrelevant,
    /// The parts that depend on the line are equal in both configurations.
    Same,
    /// The line changes the parts in [`LineChange::parts`].
    Compared,
    /// The line affects only interfaces that were not compared.
    Elsewhere,
    /// The line may change the treatment of packets, but perhop does not model it.
    NotCompared,
}

/// A line that exists in one configuration only, was moved, or has changed words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineChange {
    /// The enclosing lines, the outermost first.
    pub section: Vec<String>,
    /// The line in the old configuration.
    pub old: Option<LineText>,
    /// The line in the new configuration.
    pub new: Option<LineText>,
    /// The relation of the change to the model.
    pub effect: LineEffect,
    /// The changed parts that it affects.
    pub parts: Vec<PartName>,
    /// The reason why it is not compared.
    pub reason: Option<String>,
}

/// A line with its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineText {
    /// The number, from 1.
    pub line: usize,
    /// The text without indentation.
    pub text: String,
}

/// The name of a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PartName {
    /// The interface; empty for the device.
    pub interface: String,
    /// The part.
    pub part: String,
}
