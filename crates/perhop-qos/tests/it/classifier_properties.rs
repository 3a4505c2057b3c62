//! Tests that a compiled condition matches the same packets as the configured condition, and that the
//! codepoint table of a port has the same result as its classes in order.

use perhop_qos::classifier::MatchConfig;
use perhop_qos::packet::{IpPrecedence, Protocol};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::port::PortClassifier;
use perhop_qos::queue::QueueId;
use perhop_qos::{Dscp, Packet};
use proptest::prelude::*;

/// Nested conditions on DSCP, precedence and, optionally, protocol, the only one of these fields that is not
/// in a table.
fn conditions(with_protocol: bool) -> impl Strategy<Value = MatchConfig> {
    let dscps = prop::collection::vec((0_u8..64).prop_map(|v| Dscp::new(v).unwrap()), 20..60);
    let precedences = prop::collection::vec((0_u8..8).prop_map(|v| IpPrecedence::new(v).unwrap()), 3..8);
    let protocols = prop::sample::select(vec![Protocol::TCP, Protocol::UDP]);
    let kinds = if with_protocol { 1..4 } else { 1..3 };
    let leaf = (kinds, dscps, precedences, protocols).prop_map(|(kind, dscp, precedence, protocol)| {
        let only = MatchConfig::default();
        match kind {
            1 => MatchConfig { dscp: Some(dscp.into()), ..only },
            2 => MatchConfig { precedence: Some(precedence.into()), ..only },
            _ => MatchConfig { protocol: Some(protocol.into()), ..only },
        }
    });
    leaf.prop_recursive(3, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        (
            inner.clone(),
            prop::option::of(list.clone()),
            prop::option::of(list),
            prop::option::of(inner.prop_map(Box::new)),
        )
            .prop_map(|(leaf, all, any, not)| MatchConfig { all, any, not, ..leaf })
    })
}

/// Whether `packet` meets the condition according to its documentation.
fn is_match(config: &MatchConfig, packet: &Packet) -> bool {
    config.dscp.as_ref().is_none_or(|dscp| dscp.0.contains(&packet.dscp))
        && config.precedence.as_ref().is_none_or(|list| list.0.contains(&packet.dscp.precedence()))
        && config.protocol.as_ref().is_none_or(|protocol| protocol.0.contains(&packet.protocol))
        && config.all.as_ref().is_none_or(|all| all.iter().all(|inner| is_match(inner, packet)))
        && config.any.as_ref().is_none_or(|any| any.iter().any(|inner| is_match(inner, packet)))
        && config.not.as_ref().is_none_or(|not| !is_match(not, packet))
}

/// Packets with all DSCPs and two protocols.
fn packets() -> impl Iterator<Item = Packet> {
    (0..64).filter_map(Dscp::new).flat_map(|dscp| {
        [Protocol::TCP, Protocol::UDP].map(|protocol| Packet { dscp, protocol, ..Packet::default() })
    })
}

proptest! {
    #[test]
    fn compiling_keeps_the_meaning(config in conditions(true)) {
        match config.build(&[]) {
            Ok(compiled) => {
                for packet in packets() {
                    prop_assert_eq!(compiled.matches(&packet), is_match(&config, &packet), "{:?}", packet);
                }
            }
            // Only a condition that matches no packet is rejected as a whole.
            Err(error) if error.path.is_empty() && error.message.contains("no packet can match") => {
                prop_assert!(packets().all(|packet| !is_match(&config, &packet)), "{error}");
            }
            Err(_) => {}
        }
    }

    #[test]
    fn a_table_selects_the_first_class_that_matches(
        by_dscp in any::<bool>(), seeds in prop::collection::vec(conditions(false), 1..4), other in conditions(true),
    ) {
        let mut conditions = seeds;
        if !by_dscp {
            conditions.push(other);
        }
        let built = |config: &MatchConfig| {
            config.build(&[]).is_ok() && packets().any(|packet| !is_match(config, &packet))
        };
        conditions.retain(built);
        prop_assume!(!conditions.is_empty());
        let class = |(index, matches): (usize, &MatchConfig)| ClassConfig {
            name: index.to_string(),
            matches: Some(matches.clone()),
            ..ClassConfig::default()
        };
        let classes = conditions.iter().enumerate().map(class).collect();
        let classifier =
            PortClassifier::build(&QueueingConfig { classes, ..QueueingConfig::default() }, &[]).unwrap();
        for packet in packets() {
            let first = conditions.iter().position(|config| is_match(config, &packet));
            prop_assert_eq!(classifier.classify(&packet).map(QueueId::index), first);
        }
    }
}
