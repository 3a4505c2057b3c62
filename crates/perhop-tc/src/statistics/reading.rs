//! Reading of the output of `tc -s qdisc show` and `tc -s class show`.

use std::collections::BTreeMap;

use perhop_device::intent::Direction;
use perhop_device::show::{ClassReading, PolicyReading};

use crate::units;

/// The name of the queues of a device, used as a policy name.
const QUEUES: &str = "queues";
/// The name of the discipline of a device.
pub(super) const ROOT: &str = "qdisc root";
/// Classes of these kinds are flows.
const FLOWS: [&str; 5] = ["fq_codel", "fq_pie", "sfq", "cake", "red"];

/// The words before a number, and the name of the number.
const COUNTERS: [(&str, &str); 13] = [
    ("Sent", "sent_bytes"),
    ("bytes", "sent_packets"),
    ("(dropped", "queue_drops"),
    ("overlimits", "overlimits"),
    ("backlog", "depth_bytes"),
    ("marked", "marked_packets"),
    ("ecn_mark", "marked_packets"),
    ("early", "early_drops"),
    ("dropped", "early_drops"),
    ("pdrop", "limit_drops"),
    ("drop_overlimit", "limit_drops"),
    ("overlimit", "limit_drops"),
    ("pkts_in", "queued_packets"),
];

/// Returns the queues of each device in the output. Omits outputs without counters.
pub(super) fn read(text: &str) -> Vec<PolicyReading> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    reader.close();
    let is_counted =
        |policy: &PolicyReading| policy.classes.iter().any(|class| class.number("sent_bytes").is_some());
    if reader.devices.iter().any(is_counted) { reader.devices } else { Vec::new() }
}

#[derive(Default)]
struct Reader {
    devices: Vec<PolicyReading>,
    /// The device in the command line above the output.
    device_of_command: String,
    /// The device, and the discipline or class to which indented lines belong.
    open: Option<(String, ClassReading)>,
    /// The parent of each class, by device and class.
    parents: BTreeMap<(String, String), String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_inside = line.starts_with([' ', '\t']);
        match words.as_slice() {
            ["qdisc", _, _, rest @ ..] if !is_inside => self.qdisc(rest),
            ["class", kind, id, rest @ ..] if !is_inside => self.class(kind, id, rest),
            _ if is_inside => {
                if let Some((_, class)) = &mut self.open {
                    counters(&words, class);
                }
            }
            _ => {
                self.close_object();
                let is_command = words.iter().any(|word| word.ends_with("tc")) && words.contains(&"show");
                let device = words.iter().position(|word| *word == "dev").and_then(|at| words.get(at + 1));
                if let Some(device) = device.filter(|_| is_command) {
                    (*device).clone_into(&mut self.device_of_command);
                }
            }
        }
    }

    fn device(&self, words: &[&str]) -> String {
        let named = words.windows(2).find(|pair| pair[0] == "dev").map(|pair| pair[1]);
        named.unwrap_or(&self.device_of_command).to_owned()
    }

    fn qdisc(&mut self, words: &[&str]) {
        self.close_object();
        let parent = words.windows(2).find(|pair| pair[0] == "parent").map(|pair| pair[1]);
        let path = match parent {
            Some(id) => vec![ROOT.to_owned(), format!("qdisc {id}")],
            None => vec![ROOT.to_owned()],
        };
        let mut class = ClassReading { path, ..ClassReading::default() };
        configured(words, &mut class);
        self.open = Some((self.device(words), class));
    }

    fn class(&mut self, kind: &str, id: &str, words: &[&str]) {
        self.close_object();
        if FLOWS.contains(&kind) {
            return;
        }
        let device = self.device(words);
        if let Some(pair) = words.windows(2).find(|pair| pair[0] == "parent") {
            self.parents.insert((device.clone(), id.to_owned()), pair[1].to_owned());
        }
        let mut class = ClassReading { path: vec![id.to_owned()], ..ClassReading::default() };
        configured(words, &mut class);
        self.open = Some((device, class));
    }

    fn close_object(&mut self) {
        let Some((device, class)) = self.open.take() else { return };
        let found = self.devices.iter().position(|candidate| candidate.interface == device);
        let index = found.unwrap_or_else(|| {
            let (interface, side, name) = (device, Direction::Output, QUEUES.to_owned());
            self.devices.push(PolicyReading { interface, side, name, classes: Vec::new() });
            self.devices.len() - 1
        });
        self.devices[index].classes.push(class);
    }

    /// Adds the ancestors of a class to its path. The lines of the output can have any order.
    fn close(&mut self) {
        self.close_object();
        for device in &mut self.devices {
            for class in &mut device.classes {
                let around = |id: &String| self.parents.get(&(device.interface.clone(), id.clone()));
                // Classes have at most eight levels. The limit ends the loop if a text contains a cycle.
                while let Some(parent) = class.path.first().and_then(around).filter(|_| class.path.len() < 9)
                {
                    class.path.insert(0, parent.clone());
                }
            }
        }
    }
}

/// Adds the configured numbers of a discipline or class.
fn configured(words: &[&str], class: &mut ClassReading) {
    for pair in words.windows(2) {
        let [name, text] = pair else { continue };
        let packets = || text.strip_suffix('p').and_then(|digits| digits.parse().ok());
        let (key, value) = match *name {
            "rate" => ("rate_bps", units::rate(text)),
            "ceil" => ("ceiling_bps", units::rate(text)),
            "quantum" => ("quantum_bytes", units::size(text)),
            "limit" if packets().is_some() => ("limit_packets", packets()),
            "limit" => ("limit_bytes", units::size(text)),
            _ => continue,
        };
        if let Some(value) = value {
            class.numbers.entry(key.to_owned()).or_insert(value);
        }
    }
}

/// Adds the counters of an indented line.
fn counters(words: &[&str], class: &mut ClassReading) {
    let number = |word: &str| {
        let digits = word.trim_end_matches([',', ')', 'b', 'p']);
        digits.parse::<u64>().ok()
    };
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1).and_then(|next| number(next));
        let known = COUNTERS.iter().find(|(name, _)| name == word);
        if let Some(((_, name), value)) = known.zip(next) {
            class.numbers.entry((*name).to_owned()).or_insert(value);
        }
        if *word == "backlog"
            && let Some(packets) = words.get(index + 2).and_then(|packets| number(packets))
        {
            class.numbers.entry("depth".to_owned()).or_insert(packets);
        }
    }
}
