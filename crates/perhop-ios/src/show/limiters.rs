//! The limiters of interfaces (CAR) with their counters, as in `show interfaces rate-limit`.
//!
//! Source of the layout: Cisco IOS Quality of Service Solutions Command Reference, `show interfaces
//! rate-limit`. Results do not include the age of the last packet and the current burst.

use perhop_device::DeviceModel;
use perhop_device::intent::Direction;
use perhop_device::lower::LimiterLinks;
use perhop_device::show::{CountedPort, ShownPort, Traffic};
use perhop_qos::meter::MeterConfig;
use perhop_qos::policy::PolicyConfig;
use perhop_qos::{ByteSize, Color};
use serde_json::{Value, json};

/// A limiter and its counters.
struct Limiter<'a> {
    /// The match criterion in the router's output format.
    matches: &'a str,
    line: usize,
    rate_bps: u64,
    burst: ByteSize,
    extended_burst: ByteSize,
    conform_action: String,
    exceed_action: String,
    conformed: Traffic,
    exceeded: Traffic,
}

/// Returns the limiters of a port with their counters.
pub(super) fn shown(model: &DeviceModel, port: &CountedPort) -> ShownPort {
    let mut lines = vec![port.port.name.clone()];
    let mut documents: Vec<Value> = Vec::new();
    let sides = [
        (Direction::Input, "input", "  Input", &port.port.links.input, &port.port.input),
        (Direction::Output, "output", "  Output", &port.port.links.output, &port.port.output),
    ];
    for (direction, side, title, links, policy) in sides {
        let found = links.limiters.iter().filter_map(|index| limiter(model, port, direction, policy, *index));
        for (index, limiter) in found.enumerate() {
            if index == 0 {
                lines.push(title.to_owned());
            }
            print(&limiter, port, &mut lines);
            documents.push(document(&limiter, port, side));
        }
    }
    ShownPort { text: lines.join("\n"), document: documents.into() }
}

fn limiter<'a>(
    model: &DeviceModel,
    port: &CountedPort,
    direction: Direction,
    policy: &'a PolicyConfig,
    links: LimiterLinks,
) -> Option<Limiter<'a>> {
    let config = policy.conditioners.get(links.conditioner)?;
    let name = config.name.as_deref()?;
    let (rate, burst, extended_burst) = match config.meter.as_ref()? {
        MeterConfig::TokenBucket(meter) => (meter.rate, meter.burst, meter.burst),
        MeterConfig::TokenBucketWithDebt(meter) => (meter.rate, meter.burst, meter.debt_limit),
        _ => return None,
    };
    let (conform_action, exceed_action) = actions(&model.lines.get(links.line.checked_sub(1)?)?.text);
    let counters = port.counters.stage(direction, name);
    let counted = |color| {
        let traffic: Traffic = counters.get(&color).copied().unwrap_or_default();
        traffic.with_overhead(policy.overhead)
    };
    Some(Limiter {
        matches: without_number(name).strip_prefix("rate-limit ").unwrap_or(name),
        line: links.line,
        rate_bps: rate.as_bits_per_second(),
        burst,
        extended_burst,
        conform_action,
        exceed_action,
        conformed: counted(Color::GREEN),
        exceeded: counted(Color::RED),
    })
}

/// Removes the number in parentheses that distinguishes limiters with the same name.
fn without_number(name: &str) -> &str {
    let number = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    number.filter(|(_, text)| is_number(text)).map_or(name, |(rest, _)| rest)
}

/// Returns the actions of a command as written.
fn actions(command: &str) -> (String, String) {
    let words: Vec<&str> = command.split_whitespace().collect();
    let place = |name: &str| words.iter().position(|word| word.eq_ignore_ascii_case(name));
    match (place("conform-action"), place("exceed-action")) {
        (Some(conform), Some(exceed)) if conform < exceed => {
            (words[conform + 1..exceed].join(" "), words[exceed + 1..].join(" "))
        }
        _ => ("transmit".to_owned(), "drop".to_owned()),
    }
}

fn print(limiter: &Limiter, port: &CountedPort, lines: &mut Vec<String>) {
    let matches = if limiter.matches == "all" { "all traffic" } else { limiter.matches };
    let (rate, burst) = (limiter.rate_bps, limiter.burst.as_bytes());
    let extended = limiter.extended_burst.as_bytes();
    lines.push(format!("    matches: {matches}"));
    lines.push(format!("      params:  {rate} bps, {burst} limit, {extended} extended limit"));
    for (name, traffic, action) in [
        ("conformed", limiter.conformed, &limiter.conform_action),
        ("exceeded", limiter.exceeded, &limiter.exceed_action),
    ] {
        let (packets, bytes) = (traffic.packets, traffic.whole_bytes());
        lines.push(format!("      {name} {packets} packets, {bytes} bytes; action: {action}"));
    }
    let seconds = port.counters.seconds.round_ties_even() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    let [conformed, exceeded] =
        [limiter.conformed, limiter.exceeded].map(|rate| port.counters.bits_per_second(rate));
    lines.push(format!(
        "      last cleared {hours:02}:{minutes:02}:{seconds:02} ago, conformed {conformed:.0} bps, exceeded \
         {exceeded:.0} bps"
    ));
}

fn document(limiter: &Limiter, port: &CountedPort, side: &str) -> Value {
    let counted = |traffic: Traffic| {
        json!({
            "packets": traffic.packets,
            "bytes": traffic.whole_bytes(),
            "bps": port.counters.bits_per_second(traffic),
        })
    };
    json!({
        "interface": port.port.name,
        "side": side,
        "matches": limiter.matches,
        "line": limiter.line,
        "rate_bps": limiter.rate_bps,
        "burst_bytes": limiter.burst.as_bytes(),
        "extended_burst_bytes": limiter.extended_burst.as_bytes(),
        "conform_action": limiter.conform_action,
        "exceed_action": limiter.exceed_action,
        "conformed": counted(limiter.conformed),
        "exceeded": counted(limiter.exceeded),
    })
}
