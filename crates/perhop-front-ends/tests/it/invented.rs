//! [`Lattice`]: a front end of an invented language. It shows how much code a new vendor needs.
//!
//! ```text
//! lattice 1
//! device edge
//! port wan rate 2Mb/s mtu 1500
//!   lane voice dscp ef share 30
//!   lane rest share 70
//! ; a comment
//! ```

use perhop_device::{
    AddedInterface, Certainty, Concern, DeviceModel, Evidence, FrontEnd, LineKind, ParseOptions, Port,
    Recognition, RecognizedPlatform, Router, Wire,
};
use perhop_lint::{Diagnostic, Line, LineState, rules};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::framing::Framing;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::{ByteSize, ConfigError, Dscp, Rate};

/// The invented language.
pub(crate) struct Lattice;

const PLATFORM: &str = "lattice-1";
const FIRST: &str = "lattice";

impl FrontEnd for Lattice {
    fn name(&self) -> &'static str {
        "Lattice"
    }

    fn platforms(&self) -> &'static [&'static str] {
        &[PLATFORM]
    }

    fn recognize(&self, text: &str) -> Option<Recognition> {
        let because = evidence(text)?;
        Some(Recognition { certainty: Certainty::Certain, because: vec![because] })
    }

    fn parse(&self, text: &str, options: &ParseOptions) -> Result<DeviceModel, ConfigError> {
        if let Some(name) = options.settings.keys().next() {
            let message = format!("there is no setting `{name}`");
            return Err(ConfigError::new(name, message).within("settings"));
        }
        let mut reader = Reader::default();
        for (index, text) in text.lines().enumerate() {
            reader.line(index + 1, text);
        }
        reader.check_shares();
        Ok(DeviceModel {
            platform: RecognizedPlatform {
                name: PLATFORM.to_owned(),
                dialect: FIRST.to_owned(),
                system: "Lattice".to_owned(),
                supported: true,
                chosen: options.platform.is_some(),
                certain: true,
                because: evidence(text).into_iter().collect(),
                memory_rules: std::collections::BTreeMap::new(),
            },
            lines: reader.lines,
            comment: ';',
            diagnostics: reader.diagnostics,
            open_lines: Vec::new(),
            router: reader.router,
            unsimulated: None,
            memory: None,
        })
    }

    fn added_interface(&self, rate: Rate) -> AddedInterface {
        AddedInterface { name: "extra".to_owned(), command: format!("port extra rate {rate}"), rate }
    }
}

fn evidence(text: &str) -> Option<Evidence> {
    let (index, line) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    let is_first = line.split_whitespace().next() == Some(FIRST);
    is_first.then(|| Evidence { line: index + 1, text: line.to_owned(), says: "the language".to_owned() })
}

#[derive(Default)]
struct Reader {
    lines: Vec<Line>,
    diagnostics: Vec<Concern>,
    router: Router,
}

impl Reader {
    fn line(&mut self, number: usize, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let read = match words.as_slice() {
            [FIRST, _] | [] => Some(LineState::Irrelevant),
            [first, ..] if first.starts_with(';') => Some(LineState::Irrelevant),
            ["device", name] => {
                self.router.hostname = Some((*name).to_owned());
                Some(LineState::Irrelevant)
            }
            ["port", name, options @ ..] => self.port(number, name, options),
            ["lane", name, options @ ..] => self.lane(name, options),
            _ => None,
        };
        let block = self.router.ports.last().map(|port| port.line).filter(|_| words.first() == Some(&"lane"));
        self.lines.push(Line {
            number,
            state: read.unwrap_or(LineState::NotRecognized),
            text: text.into(),
            note: None,
            block,
        });
    }

    fn port(&mut self, line: usize, name: &str, options: &[&str]) -> Option<LineState> {
        let mut wire = Wire { framing: Some(Framing::EthernetWire), ..Wire::default() };
        for pair in options.chunks(2) {
            match pair {
                ["rate", rate] => wire.rate = Some(rate.parse::<Rate>().ok()?),
                ["mtu", bytes] => wire.mtu = Some(ByteSize::from_bytes(bytes.parse().ok()?)),
                _ => return None,
            }
        }
        self.router.ports.push(Port {
            kind: Some(LineKind::Ethernet),
            bandwidth: wire.rate,
            wire,
            ..Port::new(name, line)
        });
        Some(LineState::Modelled)
    }

    fn lane(&mut self, name: &str, options: &[&str]) -> Option<LineState> {
        let mut class = ClassConfig { name: name.to_owned(), ..ClassConfig::default() };
        for pair in options.chunks(2) {
            match pair {
                ["dscp", name] => {
                    let dscp = Some(OneOrMany(vec![name.parse::<Dscp>().ok()?]));
                    class.matches = Some(MatchConfig { dscp, ..MatchConfig::default() });
                }
                ["share", percent] => {
                    class.share.weight = Some(percent.parse().ok().filter(|weight| *weight > 0.0)?);
                }
                _ => return None,
            }
        }
        let port = self.router.ports.last_mut()?;
        let scheduler = SchedulerConfig::Wfq;
        let empty = || QueueingConfig { scheduler, ..QueueingConfig::default() };
        port.output.queueing.get_or_insert_with(empty).classes.push(class);
        Some(LineState::Modelled)
    }

    /// Reports ports whose shares add up to more than 100 percent.
    fn check_shares(&mut self) {
        for port in &self.router.ports {
            let classes = port.output.queueing.iter().flat_map(|queueing| &queueing.classes);
            let sum: f64 = classes.filter_map(|class| class.share.weight).sum();
            if sum > 100.0 {
                let message = format!("the lanes of {} have {sum} percent", port.name);
                let rule = &rules::WIRE_OVERBOOKED;
                self.diagnostics.push(Concern {
                    assumable: None,
                    diagnostic: Diagnostic::new(rule, port.line, message, "the device shares in proportion"),
                    interfaces: Some([port.name.clone()].into()),
                });
            }
        }
    }
}
