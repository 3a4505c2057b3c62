//! Classification of packets inside tunnels and encryption. A policy reads the outer header, unless
//! `qos pre-classify` makes the inner header visible. The router copies the DS field to the outer header. The
//! tunnel sets addresses, protocol and ports of the outer header. Source: Cisco document 10106, quality of
//! service options on GRE tunnel interfaces.

use std::net::Ipv4Addr;

use perhop_device::intent::{Class, Condition, Policy};
use perhop_lint::Diagnostic;
use perhop_qos::classifier::{MatchConfig, Prefix};
use perhop_qos::packet::Protocol;

use crate::ast::{Interface, IpsecProfile};
use crate::convert::context::Context;
use crate::convert::intent::condition::of_access_group;
use crate::rules;

/// Encapsulating security payload (RFC 4303).
const ESP: Protocol = Protocol(50);

/// The addresses in the outer header of encrypted packets.
struct Outer<'a> {
    source: Option<Ipv4Addr>,
    destinations: &'a [Ipv4Addr],
}

impl Context<'_> {
    /// Changes the conditions of `policy` to conditions on the outer header of encrypted packets. `line`
    /// attaches the policy as the output policy of `interface`. Reports conditions on fields that encryption
    /// or a tunnel hides.
    pub(in crate::convert) fn hide(&mut self, interface: &Interface, line: usize, policy: &mut Policy) {
        let is_public = interface.addresses.iter().any(|own| is_public(own.address));
        let with_inner_fields = with_inner_fields(policy, is_public);
        if with_inner_fields.is_empty() {
            return;
        }
        let mut hidden = Vec::new();
        let map = interface.crypto_map.as_ref().filter(|_| interface.pre_classify.is_none());
        let map = map.and_then(|at| self.configuration.crypto_maps.get(&at.value));
        if let Some(map) = map.filter(|map| map.pre_classify.is_none()) {
            self.encrypt(interface, map, policy);
            hidden.push((format!("crypto map {}", map.name), "in the crypto map".to_owned()));
        }
        let above = self.configuration.tunnels_above(&interface.name);
        let above = above.filter(|tunnel| tunnel.pre_classify.is_none());
        hidden.extend(above.map(|tunnel| (tunnel.name.clone(), format!("under {}", tunnel.name))));
        for (by, place) in hidden {
            self.found.push(Diagnostic::new(
                &rules::CLASSIFICATION_BEHIND_ENCRYPTION,
                line,
                format!(
                    "policy {} classifies {} by addresses, protocols or ports, which {by} hides",
                    policy.name,
                    with_inner_fields.join(", ")
                ),
                format!(
                    "the policy reads only the outer header; with `qos pre-classify` {place} it reads the \
                     inner header"
                ),
            ));
        }
    }

    /// Changes the classes of `policy` so that they read the outer header of packets that `map` encrypts.
    /// Does nothing if no access list selects these packets.
    fn encrypt(&self, interface: &Interface, map: &IpsecProfile, policy: &mut Policy) {
        let lists = map.lists.iter().map(|list| of_access_group(self.configuration, list));
        let encrypted = Condition::any(lists.collect());
        let source = interface.addresses.first().map(|address| address.address);
        see(policy, &encrypted, &Outer { source, destinations: &map.peers });
    }
}

/// Changes the classes of `policy` so that they read the `outer` header of `encrypted` packets.
fn see(policy: &mut Policy, encrypted: &Condition, outer: &Outer) {
    for class in &mut policy.classes {
        if let Condition::When(config) = &class.condition
            && matches_inner_fields(config)
        {
            let plain = if implies(config, encrypted) {
                Condition::Never
            } else {
                Condition::all(vec![encrypted.clone().negated(), class.condition.clone()])
            };
            let wrapped = Condition::all(vec![encrypted.clone(), outer.condition_when_encrypted(config)]);
            class.seen = Some(Condition::any(vec![plain, wrapped]));
        }
        if let Some(inner) = class.children_mut() {
            see(inner, encrypted, outer);
        }
    }
}

/// Whether `config` contains `condition`, for example a class-map with the access list of a crypto map.
fn implies(config: &MatchConfig, condition: &Condition) -> bool {
    let Condition::When(wanted) = condition else { return *condition == Condition::Always };
    config == &**wanted || config.all.iter().flatten().any(|condition| condition == &**wanted)
}

impl Outer<'_> {
    /// Evaluates `config` for encrypted packets: the fields of the outer header are known, and the other
    /// fields have the values of the inner header.
    fn condition_when_encrypted(&self, config: &MatchConfig) -> Condition {
        let within = |prefixes: &[Prefix], addresses: &[Ipv4Addr]| {
            let holds = |address: &Ipv4Addr| {
                prefixes.iter().any(|prefix| prefix.contains(std::net::IpAddr::from(*address).into()))
            };
            if addresses.iter().any(holds) { Condition::Always } else { Condition::Never }
        };
        let MatchConfig { source, destination, protocol, source_port, destination_port, .. } = config;
        let mut parts = Vec::new();
        parts.extend(source.as_ref().map(|list| within(&list.0, self.source.as_slice())));
        parts.extend(destination.as_ref().map(|list| within(&list.0, self.destinations)));
        let is_esp = protocol.as_ref().is_none_or(|list| list.0.contains(&ESP));
        if !is_esp || source_port.is_some() || destination_port.is_some() {
            return Condition::Never;
        }
        let inner = |list: &[MatchConfig]| {
            list.iter().map(|condition| self.condition_when_encrypted(condition)).collect()
        };
        parts.extend(config.all.as_ref().map(|list| Condition::all(inner(list))));
        parts.extend(config.any.as_ref().map(|list| Condition::any(inner(list))));
        parts.extend(config.not.as_ref().map(|not| self.condition_when_encrypted(not).negated()));
        let rest = MatchConfig {
            source: None,
            destination: None,
            protocol: None,
            all: None,
            any: None,
            not: None,
            ..config.clone()
        };
        if rest != MatchConfig::default() {
            parts.push(Condition::when(rest));
        }
        Condition::all(parts)
    }
}

/// Returns the names of the classes of `policy` that match fields that are not copied to the outer header.
/// With `is_public`, omits the classes that select the ends of tunnels by public addresses.
fn with_inner_fields(policy: &Policy, is_public: bool) -> Vec<String> {
    let own = |class: &Class| match &class.condition {
        Condition::When(config)
            if matches_inner_fields(config) && !(is_public && selects_public_hosts(config)) =>
        {
            vec![class.name.clone()]
        }
        _ => Vec::new(),
    };
    let inside =
        |class: &Class| class.children().map_or_else(Vec::new, |inner| with_inner_fields(inner, is_public));
    let mut names: Vec<String> =
        policy.classes.iter().flat_map(|class| [own(class), inside(class)].concat()).collect();
    names.sort();
    names.dedup();
    names
}

/// Whether `config` selects packets by public addresses of hosts alone. At the outside of a tunnel, these are
/// the other ends of tunnels, and the policy reads the outer header on purpose.
fn selects_public_hosts(config: &MatchConfig) -> bool {
    let is_host = |prefix: &Prefix| match prefix.to_string().split_once('/') {
        Some((address, "32")) => address.parse().is_ok_and(is_public),
        _ => false,
    };
    let of_hosts = |prefix: &Prefix| !is_some(prefix) || is_host(prefix);
    let mut lists = [&config.source, &config.destination].into_iter().flatten();
    let mut inside = [&config.all, &config.any].into_iter().flatten().flatten();
    config.protocol.is_none()
        && config.source_port.is_none()
        && config.destination_port.is_none()
        && config.not.as_deref().is_none_or(|not| !matches_inner_fields(not))
        && lists.all(|list| list.0.iter().all(of_hosts))
        && inside.all(|part| !matches_inner_fields(part) || selects_public_hosts(part))
}

/// Whether an address is outside of the ranges for private networks (RFC 1918) and carriers (RFC 6598).
fn is_public(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    !(address.is_private() || first == 100 && second & 0xc0 == 64)
}

/// Whether a prefix selects only some of the addresses of its family.
fn is_some(prefix: &Prefix) -> bool {
    !prefix.to_string().ends_with("/0")
}

/// Whether `config` matches addresses, protocol or ports.
fn matches_inner_fields(config: &MatchConfig) -> bool {
    let mut addresses = [&config.source, &config.destination].into_iter().flatten();
    let mut inside = [&config.all, &config.any].into_iter().flatten().flatten().chain(config.not.as_deref());
    addresses.any(|list| list.0.iter().any(is_some))
        || config.protocol.is_some()
        || config.source_port.is_some()
        || config.destination_port.is_some()
        || inside.any(matches_inner_fields)
}
