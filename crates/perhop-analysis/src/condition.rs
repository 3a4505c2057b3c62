//! [`PacketSpace::taken_by`]: the packets that match a condition. Each key has the same meaning as in
//! `perhop_qos::classifier`, which checks single packets. Tests compare the two.

use std::net::IpAddr;

use perhop_qos::classifier::{LengthRange, MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::{Ingress, Protocol};

use crate::decision_diagram::{Set, TooComplex};
use crate::fields::Field;
use crate::space::PacketSpace;

type Made = Result<Set, TooComplex>;

impl PacketSpace {
    /// Returns the packets that match `condition`. All packets match a condition without keys, and no packet
    /// matches a condition with an empty list.
    ///
    /// # Errors
    /// The sets are too complex.
    pub fn taken_by(&mut self, condition: &MatchConfig) -> Made {
        let mut sets = self.header_fields(condition)?;
        sets.extend(self.marks(condition)?);
        if let Some(OneOrMany(names)) = &condition.input {
            let numbers: Vec<u128> = (0..Ingress::INTERFACES as u128)
                .zip(self.interfaces())
                .filter(|(_, known)| names.contains(known))
                .map(|(number, _)| number)
                .collect();
            sets.push(self.is_one_of(Field::Input, numbers)?);
        }
        if let Some(inner) = &condition.all {
            for condition in inner {
                sets.push(self.taken_by(condition)?);
            }
        }
        if let Some(inner) = &condition.any {
            let inner = inner.iter().map(|condition| self.taken_by(condition)).collect::<Result<_, _>>()?;
            sets.push(self.any(inner)?);
        }
        if let Some(inner) = &condition.not {
            let inner = self.taken_by(inner)?;
            sets.push(self.minus(Set::ALL, inner)?);
        }
        self.all(sets)
    }

    fn header_fields(&mut self, condition: &MatchConfig) -> Result<Vec<Set>, TooComplex> {
        let mut sets = Vec::new();
        if let Some(OneOrMany(codepoints)) = &condition.dscp {
            sets.push(self.is_one_of(Field::Dscp, codepoints.iter().map(|dscp| dscp.value().into()))?);
        }
        if let Some(OneOrMany(precedences)) = &condition.precedence {
            // RFC 2474 §4.2.2: the class selector is in the three high bits.
            let first = |value: u8| u128::from(value) << 3;
            let made =
                precedences.iter().map(|precedence| self.begins(Field::Dscp, first(precedence.value()), 3));
            let made = made.collect::<Result<_, _>>()?;
            sets.push(self.any(made)?);
        }
        if let Some(OneOrMany(protocols)) = &condition.protocol {
            let numbers = protocols.iter().map(|protocol| u128::from(protocol.0));
            sets.push(self.is_one_of(Field::Protocol, numbers)?);
        }
        for (field, prefixes) in
            [(Field::Source, &condition.source), (Field::Destination, &condition.destination)]
        {
            if let Some(OneOrMany(prefixes)) = prefixes {
                let made = prefixes.iter().map(|prefix| self.prefix(field, *prefix));
                let made = made.collect::<Result<_, _>>()?;
                sets.push(self.any(made)?);
            }
        }
        for (field, ranges) in [
            (Field::SourcePort, &condition.source_port),
            (Field::DestinationPort, &condition.destination_port),
        ] {
            if let Some(OneOrMany(ranges)) = ranges {
                sets.push(self.ports(field, ranges)?);
            }
        }
        if let Some(OneOrMany(ranges)) = &condition.length {
            let bounds = |range: &LengthRange| (range.first().into(), range.last().into());
            sets.push(self.within_any(Field::Length, ranges.iter().map(bounds))?);
        }
        Ok(sets)
    }

    fn marks(&mut self, condition: &MatchConfig) -> Result<Vec<Set>, TooComplex> {
        let mut sets = Vec::new();
        if let Some(OneOrMany(colors)) = &condition.color {
            sets.push(self.is_one_of(Field::Color, colors.iter().map(|color| color.index() as u128))?);
        }
        if let Some(OneOrMany(labels)) = &condition.label {
            sets.push(self.is_one_of(Field::Label, labels.iter().map(|label| u128::from(*label)))?);
        }
        for (has, field, marks) in
            [(Field::HasCos, Field::Cos, &condition.cos), (Field::HasExp, Field::Exp, &condition.mpls_exp)]
        {
            if let Some(OneOrMany(marks)) = marks {
                sets.push(self.equals(has, 1)?);
                sets.push(self.is_one_of(field, marks.iter().map(|mark| mark.value().into()))?);
            }
        }
        Ok(sets)
    }

    fn prefix(&mut self, field: Field, prefix: Prefix) -> Made {
        let (family, value) = match prefix.address() {
            IpAddr::V4(address) => (0, u128::from(address.to_bits()) << 96),
            IpAddr::V6(address) => (1, address.to_bits()),
        };
        let family = self.equals(Field::Family, family)?;
        let address = self.begins(field, value, prefix.length().into())?;
        self.and(family, address)
    }
    /// Returns the packets with a port in `ranges`. Only TCP and UDP packets have ports.
    fn ports(&mut self, field: Field, ranges: &[PortRange]) -> Made {
        let bounds = |range: &PortRange| (range.first().into(), range.last().into());
        let ports = self.within_any(field, ranges.iter().map(bounds))?;
        let protocols = [Protocol::TCP, Protocol::UDP].map(|protocol| u128::from(protocol.0));
        let protocols = self.is_one_of(Field::Protocol, protocols)?;
        self.and(protocols, ports)
    }
    fn within_any(&mut self, field: Field, ranges: impl Iterator<Item = (u128, u128)>) -> Made {
        let made = ranges.map(|(first, last)| self.within(field, first, last)).collect::<Result<_, _>>()?;
        self.any(made)
    }
}
