//! [`Line`]: one line of the file, and what became of it.

use std::fmt;

use serde::Serialize;

/// What became of a line. Every line of a file is in exactly one of these states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineState {
    /// Part of the policy that perhop runs.
    Modelled,
    /// A known command without influence on what packets experience: names, management, routing protocols.
    Irrelevant,
    /// A known command that would change what packets experience, and that perhop does not model.
    NotModelled,
    /// A command that is valid, but probably a mistake: a diagnostic says why.
    Suspicious,
    /// Not a command that perhop knows.
    NotRecognized,
}

impl LineState {
    /// All of them, in the order in which reports list them.
    pub const ALL: [LineState; 5] = [
        LineState::Modelled,
        LineState::Irrelevant,
        LineState::NotModelled,
        LineState::Suspicious,
        LineState::NotRecognized,
    ];

    /// Whether what perhop runs may differ from the router by such a line, or from what was meant.
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
    /// Its number, from 1.
    pub number: usize,
    /// What became of it.
    pub state: LineState,
    /// The line as it stands in the file, without the line break.
    pub text: String,
    /// Why it is in this state, where that can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The line that opened the innermost block it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
}

impl Line {
    /// Whether it holds nothing but space, or a comment, which begins with `comment`.
    pub fn is_blank(&self, comment: char) -> bool {
        let text = self.text.trim();
        text.is_empty() || text.starts_with(comment)
    }
}
