//! Reading the output of `show policy-map interface`, of IOS 12.x to IOS-XE 17.

use std::sync::LazyLock;

use perhop_device::intent::Direction;
use perhop_device::show::{ClassReading, EarlyDropReading, PolicyReading};
use perhop_qos::ConfigError;

use super::pattern::{Pattern, words};
use super::shared_queue::{PRIORITY, assign_drops, name_of_level};

const CLASS_DEFAULT: &str = "class-default";
/// The counters that belong to a class if they precede its first match line. After a match line, they belong
/// to that line.
const OF_CLASS: [&str; 4] = ["packets", "bytes", "offered_bps", "drop_bps"];
/// The colors at the beginning of a line.
const COLORS: [&str; 3] = ["conformed", "exceeded", "violated"];
/// Patterns of lines with numbers. The first pattern that matches applies.
const LINES: [&str; 45] = [
    "{packets} packets, {bytes} bytes$",
    "{packets} packets$",
    "# second|seconds|minute|minutes offered rate {offered_bps} bps[, drop rate {drop_bps} bps]",
    // Queues.
    "queue limit {limit_packets} packets",
    "queue limit {limit_packets} (packets)",
    "queue limit {limit_bytes} bytes",
    "queue limit {limit_us} us/ {limit_bytes} bytes",
    "queue limit {limit_ms} ms/ {limit_bytes} bytes",
    "queue size {depth}, queue limit {limit_packets}",
    "[(][queue]depth/total drops/no-buffer drops[/flowdrops]) {depth}/{queue_drops}/#[/{flow_drops}]",
    "(pkts output|matched/bytes output|matched) {output_packets}/{output_bytes}",
    "(total drops) {queue_drops}",
    "(bytes output) {output_bytes}",
    // Rates; the first is the priority of releases before 12.4(20)T.
    "Bandwidth {priority_kbps} (kbps) Burst {priority_burst_bytes} (Bytes)",
    "shape (average|peak) cir {shape_cir_bps}, bc {shape_bc_bits}, be {shape_be_bits}",
    "target shape rate {shape_target_bps}",
    "bandwidth {bandwidth_percent}% ({bandwidth_kbps} kbps)",
    "bandwidth {bandwidth_kbps} [(]kbps",
    "bandwidth remaining {remaining_percent} %",
    "bandwidth remaining ratio {remaining_ratio}",
    "Bandwidth {bandwidth_percent} (%)",
    "Bandwidth {bandwidth_kbps} (kbps)[Max Threshold {limit_packets}]",
    "Fair-queue: per-flow queue limit {flow_limit_packets}",
    "Exp-weight-constant: {exponent}",
    "exponential weight: {exponent}",
    // Priority.
    "Priority: {priority_percent}% ({priority_kbps} kbps), burst bytes {priority_burst_bytes}\
     [, b/w exceed drops:[{exceed_drops}]]",
    "Priority: {priority_kbps} kbps, burst bytes {priority_burst_bytes}[, b/w exceed drops:[{exceed_drops}]]",
    "Priority: Strict, b/w exceed drops:[{exceed_drops}]",
    "Priority Level: {priority_level}",
    "(total drops/bytes drops) {exceed_drops}/#",
    // Policers.
    "[police:]cir {police_cir_bps} bps, bc {police_bc_bytes} bytes[, be {police_be_bytes} bytes]",
    "pir {police_pir_bps} bps, be {police_be_bytes} bytes",
    "rate {police_cir_bps} bps, burst {police_bc_bytes} bytes",
    "cir {police_percent} %",
    "rate {police_percent} %",
    "conformed [{conformed_packets} packets,]{conformed_bytes} bytes;",
    "exceeded [{exceeded_packets} packets,]{exceeded_bytes} bytes;",
    "violated [{violated_packets} packets,]{violated_bytes} bytes;",
    "conformed {conformed_bps} bps, exceed|exceeded {exceeded_bps} bps\
     [, violate|violated {violated_bps} bps]",
    "Packets marked {marked_packets}",
    // The table of `Traffic Shaping` before 12.4(20)T has these columns: target rate, average rate, limit in
    // bytes, bits per interval, milliseconds, increment.
    "{shape_target_bps}/{shape_cir_bps} # {shape_bc_bits} {shape_be_bits} # #$",
    "priority level {level}$",
    "queue stats for all priority classes",
    "Match:",
    "match:",
];
/// The index of the pattern for priority levels.
const LEVEL: usize = 41;
/// The index of the pattern for the shared queue of priority classes.
const SHARED: usize = 42;
const MATCH: [usize; 2] = [43, 44];

static PATTERNS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| LINES.iter().map(|line| Pattern::new(line)).collect());

/// Parses the policies in the output of `show policy-map interface`. Skips unknown lines, because releases
/// differ and log messages may interrupt the output.
///
/// # Errors
/// The text is not indented, and no line shows the end of a nested policy.
pub(super) fn read(text: &str) -> Result<Vec<PolicyReading>, ConfigError> {
    let mut reader = Reader::default();
    for line in text.lines() {
        let line = with_spaces(line);
        let words = line.trim();
        reader.line(words, line.len() - line.trim_start().len());
    }
    reader.close();
    if let Some(name) = reader.endless {
        let message = format!("the lines are not indented, and the policy {name} has no class-default");
        return Err(ConfigError::new("", message).help("give the output as the device prints it"));
    }
    reader.policies.iter_mut().for_each(assign_drops);
    let is_empty = reader.policies.iter().all(|policy| policy.classes.is_empty());
    Ok(if is_empty { Vec::new() } else { reader.policies })
}

/// Replaces each tab by spaces up to the next multiple of eight.
fn with_spaces(line: &str) -> String {
    let mut found = String::new();
    for character in line.chars() {
        if character == '\t' {
            let width = 8 - found.chars().count() % 8;
            found.extend(std::iter::repeat_n(' ', width));
        } else {
            found.push(character);
        }
    }
    found
}

/// The line that ends a policy.
#[derive(Clone, Copy, PartialEq)]
enum PolicyEnd {
    /// A class with at most the indentation of the policy.
    Indent(usize),
    /// In text without indentation: the class-default of the policy, which IOS prints last.
    ClassDefault { is_read: bool },
}

impl PolicyEnd {
    /// Whether a class with this indentation follows the policy.
    fn is_before(self, class_indent: usize) -> bool {
        match self {
            Self::Indent(indent) => indent >= class_indent,
            Self::ClassDefault { is_read } => is_read,
        }
    }
}

/// A policy that contains the current class: its name, its end, and its enclosing class.
struct Around {
    name: String,
    end: PolicyEnd,
    path: Vec<String>,
}

#[derive(Default)]
struct Reader {
    policies: Vec<PolicyReading>,
    interface: String,
    /// Whether the last policy is open.
    is_open: bool,
    around: Vec<Around>,
    /// Indentation of the last class of the last policy, while the policy is open.
    class_indent: Option<usize>,
    /// Whether the text has a nested policy without indentation.
    is_flat: bool,
    /// The first policy without class-default in a text without indentation.
    endless: Option<String>,
    color: Option<&'static str>,
    /// Whether the class has had a match line. Later counters belong to the match line.
    is_counted: bool,
}

impl Reader {
    fn line(&mut self, line: &str, indent: usize) {
        if let Some((side, name)) = attached(line) {
            self.close();
            let interface = self.interface.clone();
            self.around =
                vec![Around { name: name.clone(), end: PolicyEnd::Indent(indent), path: Vec::new() }];
            self.policies.push(PolicyReading { interface, side, name, classes: Vec::new() });
            (self.is_open, self.class_indent) = (true, None);
        } else if self.is_open && self.opens(line, indent) {
            self.color = None;
        } else if let Some(name) = interface(line).filter(|_| early_drops(line).is_none()) {
            self.close();
            name.clone_into(&mut self.interface);
            (self.is_open, self.class_indent) = (false, None);
        } else if self.class_indent.is_some() {
            self.fact(line);
        }
    }

    /// Ends the open policies. Records a policy without class-default. The class-default of the enclosing
    /// policy was then read as the class-default of this policy, so classes can be at the wrong level.
    fn close(&mut self) {
        // A policy inside class-default is complete even without its own class-default, because no class
        // follows.
        let is_endless = |around: &Around| {
            around.end == PolicyEnd::ClassDefault { is_read: false }
                && around.path.last().is_none_or(|class| class != CLASS_DEFAULT)
        };
        let endless = self.around.drain(..).find(is_endless).map(|around| around.name);
        let is_whole =
            |policy: &&PolicyReading| policy.classes.iter().any(|class| class.path == [CLASS_DEFAULT]);
        let cut = self.policies.last().filter(|policy| self.is_flat && !is_whole(policy));
        let cut = cut.map(|policy| policy.name.clone());
        self.endless = self.endless.take().or(endless).or(cut);
        self.is_flat = false;
    }

    fn class(&mut self) -> Option<&mut ClassReading> {
        let class = self.policies.last_mut()?.classes.last_mut();
        class.filter(|_| self.class_indent.is_some())
    }

    /// Whether the line begins a class, a nested policy or a priority queue.
    fn opens(&mut self, line: &str, indent: usize) -> bool {
        if let Some(name) = named(line, ["Service-policy", "service-policy"]) {
            let path = self.class().map(|class| class.path.clone());
            let path = path.filter(|path| path.last().is_none_or(|last| last != PRIORITY));
            let is_indented = self.class_indent.is_none_or(|class_indent| indent > class_indent);
            self.is_flat |= !is_indented;
            let end = if is_indented {
                PolicyEnd::Indent(indent)
            } else {
                PolicyEnd::ClassDefault { is_read: false }
            };
            self.around.push(Around { name: name.to_owned(), end, path: path.unwrap_or_default() });
            return true;
        }
        let is_shared = PATTERNS[SHARED].numbers(&words(line)).is_some();
        let Some(name) = named(line, ["Class-map", "class-map"]).or(is_shared.then_some(PRIORITY)) else {
            return false;
        };
        while self.around.len() > 1 && self.around.last().is_some_and(|around| around.end.is_before(indent)) {
            self.around.pop();
        }
        if name == CLASS_DEFAULT
            && let Some(Around { end: PolicyEnd::ClassDefault { is_read }, .. }) = self.around.last_mut()
        {
            *is_read = true;
        }
        let mut path = self.around.last().map(|around| around.path.clone()).unwrap_or_default();
        path.push(name.to_owned());
        if let Some(policy) = self.policies.last_mut() {
            policy.classes.push(ClassReading { path, ..ClassReading::default() });
        }
        (self.class_indent, self.is_counted) = (Some(indent), false);
        true
    }

    fn fact(&mut self, line: &str) {
        let (is_counted, color, words) = (self.is_counted, self.color, words(line));
        let Some(class) = self.class() else { return };
        if let Some(row) = early_drops(line) {
            class.early_drops.push(row);
            return;
        }
        let found = PATTERNS.iter().position(|pattern| pattern.numbers(&words).is_some());
        match found {
            Some(LEVEL) => {
                let level = words.last().map(String::as_str).unwrap_or_default();
                class.path.pop();
                class.path.push(name_of_level(level));
            }
            Some(index) if MATCH.contains(&index) => self.is_counted = true,
            Some(index) => {
                for (name, value) in PATTERNS[index].numbers(&words).unwrap_or_default() {
                    if !(is_counted && OF_CLASS.contains(&name.as_str())) {
                        class.numbers.entry(name).or_insert(value);
                    }
                }
                if let Some(color) = COLORS.into_iter().find(|color| line.starts_with(color)) {
                    let action = line.rsplit_once("action:").map(|(_, action)| action.trim());
                    if let Some(action) = action.filter(|action| !action.is_empty()) {
                        class.actions.insert(color.to_owned(), vec![action.to_owned()]);
                    }
                    self.color = line.contains("action").then_some(color);
                }
            }
            None if !line.is_empty() => {
                if let Some(color) = color {
                    class.actions.entry(color.to_owned()).or_default().push(line.to_owned());
                }
            }
            None => {}
        }
    }
}

/// Returns the name after one of `words` and a colon.
fn named<'l>(line: &'l str, words: [&str; 2]) -> Option<&'l str> {
    let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
    rest.trim_start().strip_prefix(':')?.split_whitespace().next()
}

/// Returns the direction and the name of an attached policy.
fn attached(line: &str) -> Option<(Direction, String)> {
    let rest = line.strip_prefix("Service-policy").or_else(|| line.strip_prefix("service-policy"))?;
    let rest = rest.trim_start();
    let (direction, rest) = match rest.strip_prefix("input") {
        Some(rest) => (Direction::Input, rest),
        None => (Direction::Output, rest.strip_prefix("output")?),
    };
    let name = rest.trim_start().strip_prefix(':')?.split_whitespace().next()?;
    Some((direction, name.to_owned()))
}

/// Returns the interface that a line names.
fn interface(line: &str) -> Option<&str> {
    const CONTROL_PLANE: &str = "Control Plane";
    let line = line.strip_prefix("Interface ").map_or(line, str::trim_start);
    let (name, rest) = if line.starts_with(CONTROL_PLANE) {
        line.split_at(CONTROL_PLANE.len())
    } else {
        let letters = line.find(|character: char| !character.is_ascii_alphabetic() && character != '-')?;
        let is_name = letters > 0 && !line.starts_with('-') && line.as_bytes()[letters].is_ascii_digit();
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '/' | '.');
        let end =
            line[letters..].find(|character| !is_part(character)).map_or(line.len(), |end| letters + end);
        if !is_name {
            return None;
        }
        line.split_at(end)
    };
    let behind = rest.trim_start();
    let is_end = behind.is_empty() || behind.starts_with(':') || behind.starts_with("<-->");
    (is_end || rest.starts_with(" -")).then_some(name)
}

/// Parses a row of the WRED table: precedence or codepoint, transmitted, random and tail drops (packets and
/// bytes each), thresholds and denominator.
fn early_drops(line: &str) -> Option<EarlyDropReading> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [value, sent, random, tail, min, max, mark] = words.as_slice() else { return None };
    let packets = |pair: &str| {
        let (packets, bytes) = pair.split_once('/')?;
        bytes.parse::<u64>().ok()?;
        packets.parse().ok()
    };
    let is_value = value.chars().all(|character| character.is_alphanumeric() || character == '_');
    is_value.then_some(EarlyDropReading {
        value: (*value).to_owned(),
        min: min.parse().ok()?,
        max: max.parse().ok()?,
        mark_denominator: mark.strip_prefix("1/")?.parse().ok()?,
        transmitted_packets: packets(sent)?,
        random_packets: packets(random)?,
        tail_packets: packets(tail)?,
    })
}
