//! The output of `show policy-map interface` of IOS 15 and of IOS-XE.

use perhop_device::intent::Direction;
use perhop_device::show::Traffic;
use perhop_device::{
    AttachedClass, Basis, Combination, GuaranteeKind, Limit, PoliceKind, Policer, PriorityKind, ShapeKind,
    Unit,
};

use super::early_drops::EarlyDrops;
use super::load_interval;
use super::state::{ClassState, PoliceState, PolicyState, QueueState};
use super::style::Style;

/// The widths of the headings in the WRED table, characters.
const HEADS: [usize; 6] = [20, 17, 19, 15, 12, 4];
/// The widths of the cells in the WRED table, characters.
const CELLS: [usize; 6] = [17, 19, 17, 19, 12, 10];

/// Returns the output for one interface.
pub(super) fn interface_text(
    name: &str,
    policies: &[(Direction, PolicyState)],
    style: Style,
    interval_s: u64,
) -> String {
    let interval = load_interval::words(interval_s);
    let mut printer = Printer { style, interval, lines: vec![format!(" {name}")] };
    for (direction, policy) in policies {
        let side = if *direction == Direction::Input { "input" } else { "output" };
        printer.line(0, "");
        printer.line(2, &format!("Service-policy {side}: {}", policy.config.name));
        printer.policy(policy, 4);
    }
    let lines: Vec<&str> = printer.lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n") + "\n"
}

/// Returns a rate in the router's output format: the whole kilobits, followed by three zeros. Zero is `0000`.
fn thousands(bps: f64) -> String {
    format!("{:.0}000", (bps / 1000.0).round_ties_even())
}

struct Printer {
    style: Style,
    interval: String,
    lines: Vec<String>,
}

impl Printer {
    fn line(&mut self, indent: usize, text: &str) {
        self.lines.push(format!("{:indent$}{text}", ""));
    }

    fn policy(&mut self, state: &PolicyState, indent: usize) {
        let is_level = |class: &ClassState| class.config.priority.is_some_and(|own| own.has_level);
        let has_levels = state.priorities.len() > 1 || state.classes.iter().any(is_level);
        for (limit, queue) in &state.priorities {
            self.line(0, "");
            self.line(indent, "queue stats for all priority classes:");
            self.line(indent + 2, "Queueing");
            if has_levels {
                self.line(indent + 2, &format!("priority level {}", limit.level));
            }
            self.queue(Some(limit.limit), *queue, indent + 2);
        }
        for class in &state.classes {
            let combination = match class.config.combination {
                Combination::MatchAll => "match-all",
                Combination::MatchAny => "match-any",
            };
            self.line(0, "");
            self.line(indent, &format!("Class-map: {} ({combination})", class.config.name));
            self.class(class, indent + 2);
        }
    }

    /// Prints the lines of a class that follow its first line.
    fn class(&mut self, state: &ClassState, indent: usize) {
        let config = state.config;
        if let Some(classified) = state.classified {
            self.line(indent, &amount(classified));
            let (offered, dropped) = (thousands(state.offered_bps), thousands(state.drop_bps));
            let rates = format!("{} offered rate {offered} bps, drop rate {dropped} bps", self.interval);
            self.line(indent, &rates);
        }
        self.matches(state, indent);
        if config.drop {
            self.line(indent, "drop");
        }
        self.priority(state, indent);
        if let Some(queue) = state.queue.filter(|_| config.priority.is_none()) {
            if has_queue_by_itself(config) {
                self.line(indent, "Queueing");
            } else {
                self.line(0, "");
            }
            self.queue(config.queue_limit, queue, indent);
        }
        self.rates(config, indent);
        if let Some(drops) = &state.early_drops {
            self.early_drops(drops, config.fair_queue.is_some(), indent + 2);
        }
        self.marks(state, indent);
        if let Some(limit) = flow_limit(config) {
            self.line(indent, &format!("Fair-queue: per-flow queue limit {limit} packets"));
        }
        if let Some((config, state)) = config.police.as_ref().zip(state.police) {
            self.police(config, state, indent);
        }
        if let Some(policy) = &state.policy {
            self.line(0, "");
            self.line(indent, &format!("Service-policy : {}", policy.config.name));
            self.policy(policy, indent + 2);
        }
    }

    /// Prints the match lines. IOS prints counters for the match lines of match-any classes.
    ///
    /// A run counts packets by class and not by match line. The counters of match lines are therefore known
    /// only if a class has a single line or no packets.
    fn matches(&mut self, state: &ClassState, indent: usize) {
        let lines = &state.config.matches;
        let is_counted = self.style == Style::Ios15
            && state.config.combination == Combination::MatchAny
            && lines.as_slice() != ["any"];
        let known = state.classified.filter(|own| is_counted && (lines.len() == 1 || own.packets == 0));
        for line in lines {
            self.line(indent, &format!("Match: {line}"));
            if let Some(own) = known {
                self.line(indent + 2, &amount(own));
                let thousands = thousands(state.offered_bps);
                let rate = if thousands == "0000" { "0" } else { &thousands };
                self.line(indent + 2, &format!("{} rate {rate} bps", self.interval));
            }
        }
    }

    /// Prints the marks of the class. IOS-XE counts marked packets only with `platform qos`.
    fn marks(&mut self, state: &ClassState, indent: usize) {
        if !state.config.marks.is_empty() {
            self.line(indent, "QoS Set");
        }
        for mark in &state.config.marks {
            self.line(indent + 2, mark);
            if self.style == Style::IosXe {
                self.line(indent + 4, "Marker statistics: Disabled");
            } else if let Some(classified) = state.classified {
                self.line(indent + 4, &format!("Packets marked {}", classified.packets));
            }
        }
    }

    fn queue(&mut self, limit: Option<Limit>, state: QueueState, indent: usize) {
        if let Some(limit) = limit {
            self.line(indent, &format!("queue limit {}", limit_words(limit)));
        }
        // A simulated router never runs out of buffers, so the third number is always 0.
        let (names, numbers) =
            ("queue depth/total drops/no-buffer drops", (state.depth, state.drops.packets));
        let depths = match state.flow_drops {
            Some(flows) => format!("({names}/flowdrops) {}/{}/0/{flows}", numbers.0, numbers.1),
            None => format!("({names}) {}/{}/0", numbers.0, numbers.1),
        };
        self.line(indent, &depths);
        self.line(indent, &format!("(pkts output/bytes output) {}", pair(state.output)));
    }

    fn priority(&mut self, state: &ClassState, indent: usize) {
        let Some(priority) = state.config.priority else { return };
        let kilobits = priority.rate_bps.unwrap_or(0) / 1000;
        let burst = priority.burst_bytes.map_or_else(|| "None".to_owned(), |bytes| bytes.to_string());
        let words = match priority.kind {
            PriorityKind::Percent => format!("{}% ({kilobits} kbps), burst bytes {burst}", priority.value),
            PriorityKind::Kbps => format!("{kilobits} kbps, burst bytes {burst}"),
            PriorityKind::Strict => "Strict".to_owned(),
        };
        self.line(indent, &format!("Priority: {words}, b/w exceed drops: {}", state.exceed_drops));
        self.line(0, "");
        if priority.has_level {
            self.line(indent, &format!("Priority Level: {}", priority.level));
        }
    }

    fn rates(&mut self, config: &AttachedClass, indent: usize) {
        if let Some(shape) = config.shape {
            let kind = match shape.kind {
                ShapeKind::Average => "average",
                ShapeKind::Peak => "peak",
            };
            let (cir, bc, be) = (shape.cir_bps, shape.bc_bits, shape.be_bits);
            self.line(indent, &format!("shape ({kind}) cir {cir}, bc {bc}, be {be}"));
            self.line(indent, &format!("target shape rate {}", shape.target_bps));
        }
        if let Some(bandwidth) = config.bandwidth {
            let value = bandwidth.value;
            let words = match bandwidth.kind {
                GuaranteeKind::Kbps => format!("{value} kbps"),
                GuaranteeKind::Percent => format!("{value}% ({} kbps)", bandwidth.rate_bps / 1000),
                GuaranteeKind::RemainingPercent => format!("remaining {value}%"),
                GuaranteeKind::RemainingRatio => format!("remaining ratio {value}"),
            };
            self.line(indent, &format!("bandwidth {words}"));
        }
    }

    fn early_drops(&mut self, state: &EarlyDrops, has_flows: bool, indent: usize) {
        let config = state.config;
        let unit = config.rows.first().map_or("packets", |row| unit_word(row.unit));
        let weight = 1_u64.checked_shl(config.exponent).unwrap_or(0);
        self.line(indent, &format!("Exp-weight-constant: {} (1/{weight})", config.exponent));
        if config.ecn {
            self.line(indent, "explicit congestion notification");
        }
        if let Some(depth) = state.mean_depth {
            self.line(indent, &format!("Mean queue depth: {} {unit}", depth.trunc()));
        }
        let key = match config.basis {
            Basis::Precedence => "class",
            Basis::Dscp => "dscp",
            Basis::DiscardClass => "discard-class",
            Basis::Cos => "cos",
        };
        let tail = if has_flows { "Tail/Flow drop" } else { "Tail drop" };
        self.line(indent, &head(key, ["Transmitted", "Random drop", tail, "Minimum", "Maximum", "Mark"]));
        let units = [" pkts/bytes", "pkts/bytes", "pkts/bytes", " thresh", " thresh", "prob"];
        self.line(indent, &head("", units));
        if unit != "packets" {
            let unit = format!(" {unit}");
            self.line(indent, &head("", ["", "", "", &unit, &unit, ""]));
        }
        self.line(0, "");
        for row in &state.rows {
            let limits = row.config;
            let [sent, random, tail] = [row.transmitted, row.random, row.tail].map(pair);
            let (min, max) = (limits.min.to_string(), limits.max.to_string());
            let least = format!("1/{}", limits.mark_denominator);
            self.line(indent, &cells(&limits.value, [&sent, &random, &tail, &min, &max, &least]));
        }
        if config.ecn {
            self.line(indent, &format!("{:<10}{:^20}", format!("{key} "), "ECN Mark"));
            self.line(indent, &format!("{:<10}{:^20}", "", "pkts/bytes"));
            for row in &state.rows {
                self.line(indent, &format!("{:<10}{:^20}", row.config.value, pair(row.marked)));
            }
        }
    }

    fn police(&mut self, config: &Policer, state: PoliceState, indent: usize) {
        self.line(indent, "police:");
        if config.kind == PoliceKind::Percent {
            self.line(indent + 4, &format!("cir {} %", config.value));
        }
        for line in police_rates(config) {
            self.line(indent + 4, &line);
        }
        let named = [
            ("conformed", Some(state.conformed), &config.conform),
            ("exceeded", Some(state.exceeded), &config.exceed),
            ("violated", state.violated, &config.violate),
        ];
        let mut rates = Vec::new();
        for (name, policed, actions) in named {
            let Some(policed) = policed else { continue };
            self.line(indent + 2, &format!("{name} {}; actions:", amount(policed.traffic)));
            for action in actions {
                self.line(indent + 4, action);
            }
            rates.push(format!("{name} {} bps", thousands(policed.bps)));
        }
        self.line(indent + 2, &rates.join(", "));
    }
}

/// Returns the flow limit that the router prints: a quarter of the class's limit. The router prints this
/// limit even with WRED, although the limit then has no effect.
fn flow_limit(config: &AttachedClass) -> Option<u64> {
    let own = config.fair_queue?.flow_limit_packets;
    let limit =
        config.queue_limit.filter(|limit| config.random_detect.is_some() && limit.unit == Unit::Packets);
    Some(limit.map_or(own, |limit| own.min(limit.value / 4)))
}

/// Whether a feature of the class requires a queue. class-default always has a queue.
fn has_queue_by_itself(config: &AttachedClass) -> bool {
    config.bandwidth.is_some()
        || config.shape.is_some()
        || config.fair_queue.is_some()
        || config.policy.is_some()
}

fn amount(traffic: Traffic) -> String {
    format!("{} packets, {} bytes", traffic.packets, traffic.whole_bytes())
}

fn pair(traffic: Traffic) -> String {
    format!("{}/{}", traffic.packets, traffic.whole_bytes())
}

fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Packets => "packets",
        Unit::Bytes => "bytes",
        Unit::Us => "us",
        Unit::Ms => "ms",
        Unit::Percent => "percent",
    }
}

/// Returns a queue limit in the router's output format; a limit in time includes bytes.
fn limit_words(limit: Limit) -> String {
    let (value, unit) = (limit.value, unit_word(limit.unit));
    if matches!(limit.unit, Unit::Us | Unit::Ms) {
        return format!("{value} {unit}/ {} bytes", limit.bytes.unwrap_or(0));
    }
    format!("{value} {unit}")
}

fn head(key: &str, cells: [&str; 6]) -> String {
    let cells = cells.iter().zip(HEADS).map(|(cell, width)| format!("{cell:<width$}"));
    format!("{:<12}{}", format!("{key} "), cells.collect::<String>())
}

fn cells(key: &str, cells: [&str; 6]) -> String {
    let cells: Vec<String> = cells.iter().zip(CELLS).map(|(cell, width)| format!("{cell:^width$}")).collect();
    format!("{key:<10}{}", cells.join(" "))
}

fn police_rates(config: &Policer) -> Vec<String> {
    let (cir, bc) = (config.cir_bps, config.bc_bytes);
    let be = config.be_bytes.map_or_else(|| "None".to_owned(), |bytes| bytes.to_string());
    match (config.kind, config.pir_bps) {
        (PoliceKind::Pps, _) => vec![format!("rate {cir} pps, burst {bc} packets")],
        (_, Some(pir)) => {
            vec![format!("cir {cir} bps, bc {bc} bytes"), format!("pir {pir} bps, be {be} bytes")]
        }
        _ if config.colors == 3 => vec![format!("cir {cir} bps, bc {bc} bytes, be {be} bytes")],
        _ => vec![format!("cir {cir} bps, bc {bc} bytes")],
    }
}
