//! [`DeviceModel`]: the content of a configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use perhop_lint::{Diagnostic, Line, LineState, rules};
use serde::Serialize;

use crate::platform_rule::EvidenceKind;
use crate::port::Router;
use crate::switch_memory::SwitchMemory;

/// The content of a device's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceModel {
    /// The platform whose rules apply.
    pub platform: RecognizedPlatform,
    /// Every line of the text with its state, in order.
    pub lines: Vec<Line>,
    /// The character with which a comment begins.
    pub comment: char,
    /// The errors, warnings and notes about the text.
    pub diagnostics: Vec<Concern>,
    /// Lines outside the model that may affect packets.
    pub open_lines: Vec<OpenLine>,
    /// The ports with their policies.
    pub router: Router,
    /// The ports of a device that perhop refuses to simulate, read by the rules of the likely platform. Only
    /// questions about networks use these ports, because addresses, routes, lists and classes do not depend
    /// on queues.
    pub unsimulated: Option<Box<Router>>,
    /// The packet memory of a switch, which the queues of its ports share.
    pub memory: Option<SwitchMemory>,
}

/// A line that is not modeled or not recognized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLine {
    /// The number of the line, from 1.
    pub line: usize,
    /// The names of the interfaces whose packets the line affects; `None` for the whole device.
    pub interfaces: Option<Arc<[String]>>,
}

impl OpenLine {
    /// Returns the open lines of a text; `interfaces` returns the interfaces that a line affects.
    pub fn all(lines: &[Line], interfaces: impl Fn(usize) -> Option<Arc<[String]>>) -> Vec<OpenLine> {
        let is_open = |line: &&Line| matches!(line.state, LineState::NotModelled | LineState::NotRecognized);
        let open = lines.iter().filter(is_open);
        open.map(|line| OpenLine { line: line.number, interfaces: interfaces(line.number) }).collect()
    }

    /// Whether the line affects packets at an interface for which `is_meant` returns true.
    pub fn concerns(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        self.interfaces.as_ref().is_none_or(|names| names.iter().any(|name| is_meant(name)))
    }
}

impl DeviceModel {
    /// Returns the model of a device whose system perhop does not simulate. The model has no ports, and only
    /// one diagnostic, because rules for other systems would report false errors. `help` names the questions
    /// that perhop can still answer. A front end may add `unsimulated` ports, and findings that are true on
    /// every system.
    pub fn refused(
        platform: RecognizedPlatform,
        mut lines: Vec<Line>,
        comment: char,
        help: &str,
    ) -> DeviceModel {
        let open_lines = OpenLine::all(&lines, |_| None);
        for line in &mut lines {
            if matches!(line.state, LineState::Modelled | LineState::Suspicious) {
                line.state = LineState::NotModelled;
            }
        }
        let because: Vec<String> = platform
            .because
            .iter()
            .map(|evidence| format!("line {}: {}", evidence.line, evidence.text.trim()))
            .collect();
        let message = format!(
            "this is a configuration of {}, which perhop does not simulate ({})",
            platform.system,
            because.join("; ")
        );
        let line = platform.because.first().map_or(1, |evidence| evidence.line);
        let diagnostic = Diagnostic::new(&rules::PLATFORM_NOT_SUPPORTED, line, message, help);
        let diagnostics = vec![Concern { diagnostic, interfaces: None, assumable: None }];
        let (router, unsimulated) = (Router::default(), None);
        DeviceModel { platform, lines, comment, diagnostics, open_lines, router, unsimulated, memory: None }
    }

    /// Whether the text looks like a configuration: most of its lines are known.
    pub fn is_plausible(&self) -> bool {
        let (mut known, mut unknown) = (0usize, 0usize);
        for line in self.lines.iter().filter(|line| !line.is_blank(self.comment)) {
            *if line.state == LineState::NotRecognized { &mut unknown } else { &mut known } += 1;
        }
        known > unknown
    }

    /// Returns the diagnostic with which perhop refuses the device, or `None` if perhop simulates it.
    pub fn refusal(&self) -> Option<&Diagnostic> {
        let refused = self.diagnostics.first().filter(|_| !self.platform.supported);
        refused.map(|problem| &problem.diagnostic)
    }
}

/// A diagnostic with the affected interfaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Concern {
    /// The diagnostic.
    pub diagnostic: Diagnostic,
    /// The names of the interfaces, shared between diagnostics; `None` for the whole device.
    pub interfaces: Option<Arc<[String]>>,
    /// The undefined class to which the diagnostic refers. An assumption of the user can define it.
    pub assumable: Option<String>,
}

/// The platform whose rules apply to a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecognizedPlatform {
    /// The name, one of [`FrontEnd::platforms`](crate::FrontEnd::platforms).
    #[serde(rename = "profile")]
    pub name: String,
    /// The operating system that wrote the configuration.
    pub dialect: String,
    /// The name of the operating system in messages.
    pub system: String,
    /// Whether perhop simulates the queues of the device. A platform that the user chose for Cisco IOS counts
    /// as modeled. False if the family or the product is not modeled or unknown.
    pub supported: bool,
    /// Whether the user chose the platform.
    pub chosen: bool,
    /// Whether the configuration determines the platform, or the user chose it.
    pub certain: bool,
    /// The lines from which perhop recognizes the platform, the clearest line first; empty if the platform is
    /// assumed.
    pub because: Vec<Evidence>,
    /// The names of the rules by which a switch divides its packet memory, by kind of evidence.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub memory_rules: BTreeMap<EvidenceKind, Vec<String>>,
}

/// A line that shows the language or the platform of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The line, from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// The conclusion from the line, such as the name of the platform.
    pub says: String,
}
