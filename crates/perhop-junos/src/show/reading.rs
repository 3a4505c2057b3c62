//! Reading of the outputs of `show interfaces queue` (all families) and `show interfaces extensive`. The
//! module `filters` reads the rows of `show firewall`.

use perhop_device::intent::Direction;
use perhop_device::show::{ClassReading, PolicyReading};

use super::filters::Filters;

/// The name of the queues of an interface, in place of a policy name.
const QUEUES: &str = "queues";
/// The name of the queues in the output of `show interfaces extensive`.
const COUNTED_QUEUES: &str = "queue counters";
/// The line above the queues in that output.
pub(super) const QUEUE_COUNTERS: &str = "Queue counters:";
/// The line above the names of queues in that output.
const QUEUE_NAMES: &str = "Queue number:";
/// The line above the bandwidth of queues in that output.
const BANDWIDTHS: &str = "CoS transmit queue";

/// The part of a queue's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Head,
    Queued,
    Transmitted,
    Depth,
    /// Rows of packets by queue.
    Counters,
    /// Rows of classes by queue.
    Names,
    /// Rows of the bandwidth and buffer of each class.
    Bandwidths,
}

/// Rows with their sections, and the names of their numbers: a count, and optionally a rate.
const ROWS: [(Section, &str, &str, Option<&str>); 13] = [
    (Section::Queued, "Packets", "queued_packets", Some("queued_pps")),
    (Section::Queued, "Bytes", "queued_bytes", Some("queued_bps")),
    (Section::Transmitted, "Packets", "sent_packets", Some("sent_pps")),
    (Section::Transmitted, "Bytes", "sent_bytes", Some("sent_bps")),
    (Section::Transmitted, "Tail-dropped packets", "tail_drops", None),
    (Section::Transmitted, "RL-dropped packets", "limited_packets", Some("limited_pps")),
    (Section::Transmitted, "RL-dropped bytes", "limited_bytes", Some("limited_bps")),
    (Section::Transmitted, "RED-dropped packets", "red_drops", None),
    (Section::Transmitted, "RED-dropped bytes", "red_bytes", None),
    (Section::Transmitted, "Total-dropped packets", "total_drops", None),
    (Section::Depth, "Current", "depth_bytes", None),
    (Section::Depth, "Peak", "peak_bytes", None),
    (Section::Depth, "Maximum", "limit_bytes", None),
];

/// Returns the queues of each interface in the output.
pub(super) fn read(text: &str) -> Vec<PolicyReading> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line.trim());
    }
    reader.close_queue();
    let has_classes = |policy: &PolicyReading| !policy.classes.is_empty();
    let filters = reader.filters.policies();
    reader.policies.into_iter().chain(filters).filter(has_classes).collect()
}

#[derive(Default)]
struct Reader {
    policies: Vec<PolicyReading>,
    open: Option<ClassReading>,
    section: Section,
    filters: Filters,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if self.filters.line(line) {
            return;
        }
        if let Some(name) = line.strip_prefix("Physical interface: ") {
            self.interface(name.split([',', ' ']).next(), QUEUES);
        } else if let Some(name) = line.strip_prefix("Logical interface ") {
            self.interface(name.split_whitespace().next(), QUEUES);
        } else if let Some(name) = line.strip_prefix("Slice : ") {
            let slice = name.split_whitespace().next().unwrap_or_default();
            self.interface(None, &format!("slice {slice}"));
        } else if let Some(name) = line.strip_prefix("Anchor interface : ") {
            let name = name.split_whitespace().next().unwrap_or_default();
            name.clone_into(&mut self.policy().interface);
        } else if line.starts_with("Ingress queues:") {
            self.side(Direction::Input);
        } else if line.starts_with("Egress queues:") {
            self.side(Direction::Output);
        } else if line.starts_with(QUEUE_COUNTERS) {
            self.section = Section::Counters;
            COUNTED_QUEUES.clone_into(&mut self.policy().name);
        } else if line.starts_with(QUEUE_NAMES) {
            self.section = Section::Names;
        } else if line.starts_with(BANDWIDTHS) {
            self.section = Section::Bandwidths;
        } else if let Some((number, classes)) = queue(line) {
            self.close_queue();
            let path = vec![classes.split(", ").next().unwrap_or_default().to_owned()];
            let mut class = ClassReading { path, ..ClassReading::default() };
            class.numbers.insert("queue".to_owned(), number);
            self.open = Some(class);
        } else if matches!(self.section, Section::Counters | Section::Names | Section::Bandwidths) {
            self.row_of_table(line);
        } else {
            self.row(line);
        }
    }

    /// Reads a row of `show interfaces extensive`. Another line ends the table.
    fn row_of_table(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = words.first().and_then(|word| word.parse::<u64>().ok());
        let Some(number) = number.filter(|_| words.len() > 1) else {
            // Two lines are above the rows of bandwidths.
            self.section = if line.starts_with('%') { self.section } else { Section::Head };
            return;
        };
        let section = self.section;
        let policy = self.policy();
        if section == Section::Counters {
            let counts: Vec<u64> = words[1..].iter().map_while(|word| word.parse().ok()).collect();
            if let [queued, sent, dropped] = counts[..] {
                let mut class =
                    ClassReading { path: vec![format!("queue {number}")], ..ClassReading::default() };
                let names = ["packets", "sent_packets", "queue_drops", "queue"];
                let numbers = names.into_iter().zip([queued, sent, dropped, number]);
                class.numbers.extend(numbers.map(|(name, value)| (name.to_owned(), value)));
                policy.classes.push(class);
            }
            return;
        }
        let is_own = |class: &&mut ClassReading| class.number("queue") == Some(number);
        let Some(class) = policy.classes.iter_mut().find(is_own) else { return };
        if section == Section::Names {
            // The name of the queue is the name of its first class.
            class.path = vec![words[1].trim_end_matches(',').to_owned()];
            return;
        }
        let names = [(2, "bandwidth_percent", 1), (3, "bandwidth_kbps", 1000), (5, "limit_us", 1)];
        for (place, name, unit) in names {
            let value = words.get(place).and_then(|word| word.parse::<u64>().ok());
            class
                .numbers
                .extend(value.filter(|value| *value > 0).map(|value| (name.to_owned(), value / unit)));
        }
    }

    fn interface(&mut self, name: Option<&str>, policy: &str) {
        self.close_queue();
        self.policies.push(PolicyReading {
            interface: name.unwrap_or_default().to_owned(),
            side: Direction::Output,
            name: policy.to_owned(),
            classes: Vec::new(),
        });
    }

    /// Returns the current interface. It has no name if the output does not name it.
    fn policy(&mut self) -> &mut PolicyReading {
        if self.policies.is_empty() {
            self.interface(None, QUEUES);
        }
        let last = self.policies.len() - 1;
        &mut self.policies[last]
    }

    /// Begins the queues of one direction of the current interface.
    fn side(&mut self, side: Direction) {
        self.close_queue();
        let own = self.policy();
        if own.classes.is_empty() {
            own.side = side;
        } else {
            let next = PolicyReading { side, classes: Vec::new(), ..own.clone() };
            self.policies.push(next);
        }
    }

    fn close_queue(&mut self) {
        self.section = Section::Head;
        if let Some(class) = self.open.take() {
            self.policy().classes.push(with_sums(class));
        }
    }

    fn row(&mut self, line: &str) {
        let Some(class) = &mut self.open else { return };
        let Some((label, values)) = line.split_once(':') else { return };
        let label = label.trim_end();
        match label {
            "Queued" => self.section = Section::Queued,
            "Transmitted" => self.section = Section::Transmitted,
            "Queue-depth bytes" => self.section = Section::Depth,
            _ => {}
        }
        let row = ROWS.iter().find(|(section, name, _, _)| (*section, *name) == (self.section, label));
        let Some((_, _, count, rate)) = row else { return };
        let mut values = values.split_whitespace().map(str::parse::<u64>);
        // A device prints a word, not a number, for a counter that it does not have.
        if let Some(Ok(value)) = values.next() {
            class.numbers.insert((*count).to_owned(), value);
        }
        if let (Some(name), Some(Ok(value))) = (rate, values.next()) {
            class.numbers.insert((*name).to_owned(), value);
        }
    }
}

/// Reads `Queue: 0, Forwarding classes: best-effort`.
fn queue(line: &str) -> Option<(u64, &str)> {
    let (number, classes) = line.strip_prefix("Queue: ")?.split_once(", Forwarding classes: ")?;
    Some((number.parse().ok()?, classes))
}

/// Adds the numbers that a comparison needs: all packets of the class before any drop, and the drops.
///
/// Queued packets include packets that the queue drops, but not the drops of `rate-limit` (on an MX301,
/// queued packets and bytes are the sums of transmitted and RED-dropped packets and bytes; Junos CLI
/// Reference, "show interfaces queue").
fn with_sums(class: ClassReading) -> ClassReading {
    let mut class = class;
    let sums: [(&str, &str, &[&str]); 5] = [
        ("packets", "queued_packets", &["limited_packets"]),
        ("bytes", "queued_bytes", &["limited_bytes"]),
        ("offered_pps", "queued_pps", &["limited_pps"]),
        ("offered_bps", "queued_bps", &["limited_bps"]),
        ("exceed_drops", "limited_packets", &[]),
    ];
    for (sum, first, others) in sums {
        if let Some(first) = class.number(first) {
            let others = others.iter().filter_map(|name| class.number(name));
            let value = others.fold(first, u64::saturating_add);
            class.numbers.insert(sum.to_owned(), value);
        }
    }
    let parts = ["tail_drops", "red_drops"].into_iter().filter_map(|name| class.number(name));
    let drops = class.number("total_drops").or_else(|| parts.reduce(u64::saturating_add));
    if let Some(drops) = drops {
        class.numbers.insert("queue_drops".to_owned(), drops);
    }
    class
}
