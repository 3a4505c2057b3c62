//! The proof for one port or policy of each configuration.

use std::collections::BTreeSet;

use perhop_analysis::{PacketSpace, arriving};
use perhop_device::intent::Direction;
use perhop_device::{Port, interface_for};
use perhop_qos::packet::Encapsulation;
use perhop_qos::{ConfigError, Rate};

use super::answer::Proof;
use super::ports::{PortOf, compare_paths};
use super::question::{ProofQuestion, Side};

/// The directions of a port.
const BOTH: [Direction; 2] = [Direction::Input, Direction::Output];

/// A port of a configuration, and the directions that are compared.
struct Chosen {
    port: String,
    directions: Vec<Direction>,
}

/// Whether each configuration has a single port with policies, and the two names differ.
pub(super) fn has_single_ports(sides: &[Side; 2]) -> bool {
    let single = |side: &Side| {
        let mut ports = side.model.router.ports.iter().filter(|port| has_policy(port));
        ports.next().filter(|_| ports.next().is_none()).map(|port| port.name.clone())
    };
    match (single(&sides[0]), single(&sides[1])) {
        (Some(first), Some(second)) => first != second,
        _ => false,
    }
}

fn has_policy(port: &Port) -> bool {
    let own = [attached(port, Direction::Input), attached(port, Direction::Output)];
    // In a language without named policies, every queue is configured.
    let is_written = port.attachments.is_none()
        && (port.output.queueing.is_some()
            || !port.output.conditioners.is_empty()
            || !port.input.conditioners.is_empty());
    is_written || own.iter().any(Option::is_some)
}

fn attached(port: &Port, direction: Direction) -> Option<&str> {
    let policy = match direction {
        Direction::Input => port.input_policy(),
        Direction::Output => port.output_policy(),
    };
    policy.map(|policy| policy.name.as_str())
}

/// Compares the policies of one port of each configuration.
pub(super) fn prove_ports(mut sides: [Side; 2], question: &ProofQuestion) -> Result<Proof, ConfigError> {
    let mut chosen = Vec::new();
    for (side, own) in sides.iter_mut().enumerate() {
        chosen.push(choose(own, question.at[side], question.policy[side], question.rate)?);
    }
    let ports = [0, 1].map(|side: usize| {
        let router = &sides[side].model.router;
        let port = router.ports.iter().find(|port| port.name == chosen[side].port);
        PortOf { model: &sides[side].model, port: port.unwrap_or(&router.ports[0]) }
    });
    let is_common = |direction: &Direction| {
        question.direction.is_none_or(|own| own == *direction) && chosen[1].directions.contains(direction)
    };
    let directions: Vec<Direction> = chosen[0].directions.iter().copied().filter(is_common).collect();
    if directions.is_empty() {
        return Err(ConfigError::new(
            "policy",
            "one of the two policies is for arriving packets, the other for departing packets".to_owned(),
        ));
    }
    let mut proof = Proof::default();
    let names = [0, 1].map(|side: usize| sides[side].name);
    let place = format!("{} of {} and {} of {}", ports[0].port.name, names[0], ports[1].port.name, names[1]);
    let mut interfaces: Vec<String> = Vec::new();
    for port in sides.iter().flat_map(|side| &side.model.router.ports) {
        if !interfaces.contains(&port.interface) {
            interfaces.push(port.interface.clone());
        }
    }
    let mut space = PacketSpace::new(&interfaces);
    let own = ports.map(PortOf::encapsulation);
    // A policy alone has no link. The compared link carries the marks that the link of either side carries.
    let link = Encapsulation { tag: own[0].tag || own[1].tag, labels: own[0].labels || own[1].labels };
    for direction in directions {
        let packets_in_words = match direction {
            Direction::Input => "packets that arrive",
            Direction::Output => "packets that leave",
        };
        let found = arriving(&mut space, None).and_then(|packets| {
            compare_paths(&mut space, packets, &|space, side, path| match direction {
                Direction::Input => ports[side].input(space, path),
                Direction::Output => ports[side].output(space, path, link),
            })
        });
        if proof.record(&format!("{packets_in_words} by {place}"), found, |_| true) {
            break;
        }
    }
    let concerned = ports.map(|port| BTreeSet::from([port.port.interface.clone()]));
    proof.add_lines([&sides[0].model, &sides[1].model], names, [&concerned[0], &concerned[1]]);
    proof.assumed.push(
        "before the policy, packets have no mark that is internal to the device (qos-group)".to_owned(),
    );
    proof.not_looked_at.push("other ports, routes, and the transmit rings of the two ports".to_owned());
    Ok(proof.with_verdict())
}

/// Returns the port of a configuration that the user chose. An unattached policy gets a generated port.
fn choose(
    side: &mut Side,
    at: Option<&str>,
    policy: Option<&str>,
    rate: Option<Rate>,
) -> Result<Chosen, ConfigError> {
    let ports = &side.model.router.ports;
    let has = |port: &&Port| policy.is_none_or(|policy| !with_policy(port, policy).is_empty());
    let directions = |port: &Port| policy.map_or(BOTH.to_vec(), |policy| with_policy(port, policy));
    if let Some(at) = at {
        let full = side.front_end.interface_name(at);
        let exact = ports.iter().find(|port| port.name.eq_ignore_ascii_case(at));
        let port = exact.or_else(|| side.model.router.port(&full)).ok_or_else(|| {
            ConfigError::new("at", format!("{} has no port `{at}`", side.name))
                .help(format!("ports: {}", listed(ports.iter())))
        })?;
        if let Some(policy) = policy.filter(|_| !has(&port)) {
            return Err(ConfigError::new(
                "policy",
                format!("{}: {} has no policy `{policy}`", side.name, port.name),
            ));
        }
        return Ok(Chosen { port: port.name.clone(), directions: directions(port) });
    }
    let mut found = ports.iter().filter(has).filter(|port| has_policy(port));
    match (found.next(), found.next(), policy) {
        (Some(port), None, _) | (Some(port), Some(_), Some(_)) => {
            Ok(Chosen { port: port.name.clone(), directions: directions(port) })
        }
        (None, _, Some(policy)) => choose_unattached(side, policy, rate),
        (Some(_), Some(_), None) => {
            let with = ports.iter().filter(|port| has_policy(port));
            Err(ConfigError::new("at", format!("{} has several ports with policies", side.name))
                .help(format!("choose with --at: {}", listed(with))))
        }
        (None, _, None) => Err(ConfigError::new("at", format!("{} has no port with a policy", side.name))
            .help(format!("choose with --at: {}", listed(ports.iter())))),
    }
}

fn with_policy(port: &Port, policy: &str) -> Vec<Direction> {
    BOTH.into_iter().filter(|direction| attached(port, *direction) == Some(policy)).collect()
}

fn listed<'p>(ports: impl Iterator<Item = &'p Port>) -> String {
    let names: Vec<&str> = ports.map(|port| port.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Adds an interface for an unattached policy.
fn choose_unattached(side: &mut Side, policy: &str, rate: Option<Rate>) -> Result<Chosen, ConfigError> {
    let Some(rate) = rate else {
        return Err(ConfigError::new("policy", format!("{}: no port has a policy `{policy}`", side.name))
            .help("if the policy is attached to no port: --rate 50Mb/s adds an interface with it"));
    };
    let made = interface_for(side.front_end, &side.model, rate, Some(policy))?;
    let text = format!("{}\n{}\n", side.text.trim_end_matches('\n'), made.commands.join("\n"));
    side.model = side.front_end.parse(&text, &side.options)?;
    Ok(Chosen { port: made.name, directions: vec![Direction::Output] })
}
