//! [`behind_labels`]: conditions as they apply to packets whose IP header is behind MPLS labels.
//!
//! A router classifies such packets by the label at the top: its EXP, and properties without a header. A
//! condition on a field of the IP header matches no such packet (RFC 3270 §2.6; Cisco, "MPLS QoS: Classifying
//! and Marking MPLS EXP").

use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::packet::LinkMark;

use super::Condition;

/// The header by which a device classifies a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VisibleHeader {
    /// The IP header.
    #[default]
    Ip,
    /// The MPLS label at the top, which hides the IP header.
    Labels,
}

/// Returns `config` as it applies to packets with a hidden IP header: a condition on the IP header matches no
/// packet.
pub fn behind_labels(config: &MatchConfig) -> MatchConfig {
    let MatchConfig {
        dscp,
        precedence,
        color: _,
        label: _,
        cos: _,
        mpls_exp: _,
        length: _,
        source,
        destination,
        protocol,
        source_port,
        destination_port,
        input: _,
        all,
        any,
        not,
    } = config;
    let codepoint = dscp.is_some() || precedence.is_some();
    let ports = protocol.is_some() || source_port.is_some() || destination_port.is_some();
    if codepoint || ports || source.is_some() || destination.is_some() {
        return never();
    }
    let inside = |list: &Vec<MatchConfig>| list.iter().map(behind_labels).collect();
    MatchConfig {
        all: all.as_ref().map(inside),
        any: any.as_ref().map(inside),
        not: not.as_deref().map(|config| Box::new(behind_labels(config))),
        ..config.clone()
    }
}

/// Returns a condition that no packet meets: a label has only one EXP.
fn never() -> MatchConfig {
    let exp = |value| {
        let marks = LinkMark::new(value).into_iter().collect();
        MatchConfig { mpls_exp: Some(OneOrMany(marks)), ..MatchConfig::default() }
    };
    MatchConfig { all: Some(vec![exp(0), exp(1)]), ..MatchConfig::default() }
}

impl Condition {
    /// Returns the condition as it applies if the device can read only the header `visible`.
    #[must_use]
    pub fn seen(&self, visible: VisibleHeader) -> Condition {
        match (self, visible) {
            (Condition::When(config), VisibleHeader::Labels) => Condition::when(behind_labels(config)),
            _ => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use perhop_qos::Packet;

    use super::*;

    #[test]
    fn labels_hide_the_ip_header() {
        let mut packet = Packet { dscp: "ef".parse().unwrap(), ..Packet::default() };
        packet.set_exp(LinkMark::new(5).unwrap());
        let ef = MatchConfig { dscp: Some(OneOrMany(vec![packet.dscp])), ..MatchConfig::default() };
        let exp =
            MatchConfig { mpls_exp: Some(OneOrMany(vec![packet.exp().unwrap()])), ..MatchConfig::default() };
        let not_ef = MatchConfig { not: Some(Box::new(ef.clone())), ..MatchConfig::default() };
        let either = MatchConfig { any: Some(vec![ef.clone(), exp.clone()]), ..MatchConfig::default() };
        for (config, by_ip, by_label) in
            [(ef, true, false), (exp, true, true), (not_ef, false, true), (either, true, true)]
        {
            let condition = Condition::when(config);
            let matches = |visible| condition.seen(visible).matches(&[], &packet);
            assert_eq!(matches(VisibleHeader::Ip), by_ip, "{condition:?}");
            assert_eq!(matches(VisibleHeader::Labels), by_label, "{condition:?}");
        }
    }
}
