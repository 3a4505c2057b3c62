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
    /// For each changed input conditioner, an example packet with its fates.
    pub examples: Vec<Example>,
    /// The changed lines whose effect is known: lines that the model contains, and irrelevant lines.
    pub lines: Vec<LineChange>,
    /// The changed lines whose effect perhop does not know, because it does not model them.
    pub not_compared: Vec<LineChange>,
    /// Assumptions in place of facts that the configurations do not contain.
    pub assumed: Vec<String>,
    /// Parts of the configurations that the comparison ignores.
    pub not_looked_at: Vec<String>,
    /// Remarks about interfaces that only one of the two configurations has.
    pub remarks: Vec<String>,
}

/// A packet that waits in another queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The interface through which the packet leaves.
    pub interface: String,
    /// The interface on which the packet arrives and whose input policy applies; `None` without an input
    /// policy.
    pub arrives: Option<String>,
    /// The queue in the old configuration; `None` if no class matches the packet.
    pub before: Option<String>,
    /// The queue in the new configuration.
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
    /// The value in the old configuration.
    pub before: Option<Value>,
    /// The value in the new configuration.
    pub after: Option<Value>,
    /// For the property `match`: a packet that matches in only one of the two configurations.
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
    /// The interface on which the packet arrives.
    pub arrives: String,
    /// The name of the conditioner.
    pub part: String,
    /// The interface through which the packet leaves.
    pub leaves: String,
    /// The packet, as it arrives.
    pub packet: String,
    /// The fate in the old configuration.
    pub before: End,
    /// The fate in the new configuration.
    pub after: End,
}

/// The fate of a packet in a node. If meters can assign several colors, the fate for the first of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// The packet, as it leaves.
    pub packet: String,
    /// Whether a conditioner drops the packet.
    pub dropped: bool,
    /// The queue; `None` if the packet joins no queue.
    pub queue: Option<String>,
}

/// The relation of a changed line to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineEffect {
    /// The front end classifies the line as irrelevant.
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
    /// The changed parts that the line affects.
    pub parts: Vec<PartName>,
    /// The reason why the line is not compared.
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
