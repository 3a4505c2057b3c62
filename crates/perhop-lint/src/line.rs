//! [`Line`]: one line of a file, and its state.

use std::fmt;

use serde::Serialize;

use crate::line_text::LineText;

/// The state of a line. Every line of a file has exactly one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineState {
    /// A line of the policy that perhop runs.
    Modelled,
    /// A known command without effect on packets: names, management, routing protocols.
    Irrelevant,
    /// A known command that affects packets and that perhop does not model.
    NotModelled,
    /// A valid command that is probably a mistake; a diagnostic states the reason.
    Suspicious,
    /// An unknown command.
    NotRecognized,
}

impl LineState {
    /// All states, in the order of reports.
    pub const ALL: [LineState; 5] = [
        LineState::Modelled,
        LineState::Irrelevant,
        LineState::NotModelled,
        LineState::Suspicious,
        LineState::NotRecognized,
    ];

    /// Whether perhop can differ from the router or from the author's intention because of a line in this
    /// state.
    pub fn differs(self) -> bool {
        matches!(self, LineState::NotModelled | LineState::Suspicious | LineState::NotRecognized)
    }
}

impl fmt::Display for LineState {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(match self {
            LineState::Modelled => "modelled",
            LineState::Irrelevant => "irrelevant",
            LineState::NotModelled => "not modelled",
            LineState::Suspicious => "suspicious",
            LineState::NotRecognized => "not recognized",
        })
    }
}

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Line number, from 1.
    pub number: usize,
    /// The state.
    pub state: LineState,
    /// The text without the line break.
    pub text: LineText,
    /// The reason for the state, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The line that opens the innermost block that contains this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
}

impl Line {
    /// Whether the line is empty or a comment that begins with `comment`.
    pub fn is_blank(&self, comment: char) -> bool {
        let text = self.text.trim_start();
        text.is_empty() || text.starts_with(comment)
    }
}
