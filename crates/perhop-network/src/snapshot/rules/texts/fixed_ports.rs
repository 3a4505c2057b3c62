//! Ports with a fixed speed but no fixed duplex, or the other way round, and ports with other values than
//! their siblings.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Precision, Snapshot, Topic};
use crate::rules;

/// The minimum number of other ports with the same fixed values.
const LEAST_OTHERS: usize = 3;

/// A hardware port with at least one fixed value.
struct Port<'t> {
    name: &'t str,
    line: usize,
    speed: Option<(&'t str, usize)>,
    duplex: Option<(&'t str, usize)>,
    /// The line that negotiates the speed or the duplex.
    auto: Option<usize>,
    is_switched: bool,
    /// The letters of the description of the port.
    description: String,
}

/// Reports the only port with a fixed speed or a fixed duplex but not both, at up to 100 Mb/s. Also reports
/// the only port of a switch with other fixed values than all other ports, if ports with the same description
/// have the usual values.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all: Vec<Vec<Port>> = trees.iter().map(|nodes| nodes.iter().filter_map(port).collect()).collect();
    // Some hardware has only one of the two commands.
    let halves = all.iter().flatten().filter(|own| half(own).is_some()).count();
    let whole = all.iter().flatten().filter(|own| own.speed.is_some() && own.duplex.is_some()).count();
    let is_exception = halves == 1 && whole > 0;
    for (device, ports) in all.iter().enumerate() {
        let name = &snapshot.devices[device].name;
        let mut report = |line, message| {
            // IEEE 802.3 §28.2.3.1: parallel detection finds the speed, but not the duplex.
            let effect =
                "one end may fall back to half duplex or to a lower rate: collisions destroy packets";
            let rule = &rules::NETWORK_SETTING_DIFFERS;
            let finding = snapshot.finding(device, rule, line, (message, effect.to_owned()));
            found.push(finding.about(Topic::Setting("duplex"), Precision::Comparison));
        };
        for own in ports.iter().filter(|_| is_exception) {
            if let Some((line, what)) = half(own) {
                report(line, format!("{} of {name} {what}, unlike all other fixed ports", own.name));
            }
        }
        let mut values: BTreeMap<(&str, &str), Vec<&Port>> = BTreeMap::new();
        for own in ports.iter().filter(|own| own.is_switched) {
            if let (Some((speed, _)), Some((duplex, _))) = (own.speed, own.duplex) {
                values.entry((speed, duplex)).or_default().push(own);
            }
        }
        let mut sorted: Vec<_> = values.iter().collect();
        sorted.sort_by_key(|(_, ports)| ports.len());
        if let [((speed, duplex), alone), ((usual, usual_duplex), others)] = sorted.as_slice()
            && alone.len() == 1
            && others.iter().filter(|port| port.description == alone[0].description).count() >= LEAST_OTHERS
        {
            let line = alone[0].speed.map_or(alone[0].line, |(_, line)| line);
            report(
                line,
                format!(
                    "{} of {name} has {speed} Mb/s and {duplex} duplex, but all {} other fixed ports have {usual} \
                     Mb/s and {usual_duplex} duplex",
                    alone[0].name,
                    others.len()
                ),
            );
        }
    }
}

/// Returns the line and the problem of a port with a fixed speed or a fixed duplex, but not both.
fn half(own: &Port) -> Option<(usize, &'static str)> {
    match (own.speed, own.duplex) {
        // At 1 Gb/s, ports negotiate even with a fixed speed (IEEE 802.3 §40.5.1).
        (Some(("10" | "100", line)), None) => {
            Some((own.auto.unwrap_or(line), "has a fixed speed, but negotiates the duplex"))
        }
        (None, Some((_, line))) => {
            Some((own.auto.unwrap_or(line), "has a fixed duplex, but negotiates the speed"))
        }
        _ => None,
    }
}

/// Returns a hardware port that is up.
fn port<'t>(node: &Node<'t>) -> Option<Port<'t>> {
    let ["interface", name] = *node.words().as_slice() else { return None };
    if node.is_shut() || name.contains('.') {
        return None;
    }
    let value = |command: &str| {
        node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            [own, value] if own == command && value != "auto" => Some((value, inner.line.0)),
            _ => None,
        })
    };
    let auto = node.inner.iter().find(|inner| matches!(inner.line.1.trim(), "speed auto" | "duplex auto"));
    let auto = auto.map(|inner| inner.line.0);
    let is_switched = node.inner.iter().any(|inner| inner.begins_with("switchport "));
    // Cisco, "Interface Configuration Guide": some ports have `full-duplex` instead of `duplex full`.
    let of_old_form = node.inner.iter().find_map(|inner| match inner.line.1.trim() {
        "full-duplex" => Some(("full", inner.line.0)),
        "half-duplex" => Some(("half", inner.line.0)),
        _ => None,
    });
    let (speed, duplex) = (value("speed"), value("duplex").or(of_old_form));
    let text = node.inner.iter().find_map(|inner| inner.line.1.trim().strip_prefix("description "));
    let description = text.unwrap_or_default().chars().filter(|letter| letter.is_alphabetic()).collect();
    (speed.is_some() || duplex.is_some()).then_some(Port {
        name,
        line: node.line.0,
        speed,
        duplex,
        auto,
        is_switched,
        description,
    })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{half, port};

    #[test]
    fn both_values_are_fixed_or_none() {
        let line = |lines: &str| {
            let text = format!("interface Fa0/1\n{lines}");
            port(&read(&text)[0]).and_then(|own| half(&own)).map(|(line, _)| line)
        };
        assert_eq!(line(" speed 100\n duplex full\n"), None);
        assert_eq!(line(" speed 100\n full-duplex\n"), None);
        assert_eq!(line(" speed 100\n"), Some(2));
        assert_eq!(line(" speed 100\n duplex auto\n"), Some(3));
        assert_eq!(line(" speed auto\n duplex full\n"), Some(2));
        assert_eq!(line(" speed 1000\n"), None, "ports of 1 Gb/s negotiate");
        assert_eq!(line(" speed 100\n shutdown\n"), None);
    }
}
