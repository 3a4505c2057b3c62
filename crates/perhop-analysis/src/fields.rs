//! [`Field`]: the variables of a diagram for each field of a packet.

/// A field of a packet that a condition may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// 1 for IPv6, 0 for IPv4.
    Family,
    /// IP protocol.
    Protocol,
    /// Destination address: 128 bits. IPv4 uses the first 32.
    Destination,
    /// Source address: 128 bits. IPv4 uses the first 32.
    Source,
    /// TCP or UDP destination port.
    DestinationPort,
    /// TCP or UDP source port.
    SourcePort,
    /// Differentiated services codepoint.
    Dscp,
    /// Length of the IP packet, bytes.
    Length,
    /// Number of the input interface.
    Input,
    /// Color (discard class) in this node.
    Color,
    /// Label (qos-group) in this node.
    Label,
    /// Whether the packet has a class of service.
    HasCos,
    /// Class of service of the VLAN tag.
    Cos,
    /// Whether the packet has an MPLS label, and so a traffic class (EXP).
    HasExp,
    /// Traffic class (EXP) of the topmost MPLS label.
    Exp,
}

impl Field {
    /// All fields, in the order of their variables. Fields with few values are first, because classes combine
    /// them with access lists, and routers rewrite them. If these fields were last, each value would need a
    /// copy of every list.
    pub(crate) const ALL: [Field; 15] = [
        Field::Input,
        Field::Color,
        Field::Label,
        Field::HasCos,
        Field::Cos,
        Field::HasExp,
        Field::Exp,
        Field::Dscp,
        Field::Family,
        Field::Protocol,
        Field::Destination,
        Field::Source,
        Field::DestinationPort,
        Field::SourcePort,
        Field::Length,
    ];

    /// Returns the number of bits of the field.
    pub const fn bits(self) -> u32 {
        match self {
            Field::Family | Field::HasCos | Field::HasExp => 1,
            Field::Color | Field::Cos | Field::Exp => 3,
            Field::Dscp => 6,
            Field::Protocol | Field::Label => 8,
            Field::Input => 14,
            Field::DestinationPort | Field::SourcePort | Field::Length => 16,
            Field::Destination | Field::Source => 128,
        }
    }
    /// Returns the variable of the most significant bit. The variables of the other bits follow.
    pub(crate) const fn first_variable(self) -> u32 {
        let (mut index, mut before) = (0, 0);
        while Field::ALL[index] as usize != self as usize {
            before += Field::ALL[index].bits();
            index += 1;
        }
        before
    }
    /// Returns the field to which `variable` belongs.
    pub(crate) fn of_variable(variable: u32) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.bit_of(0, variable).is_some())
    }
    /// Returns the bit of `value` for `variable`, if the variable belongs to this field.
    pub(crate) fn bit_of(self, value: u128, variable: u32) -> Option<bool> {
        let bit = variable.checked_sub(self.first_variable()).filter(|bit| *bit < self.bits())?;
        Some(value >> (self.bits() - 1 - bit) & 1 == 1)
    }
    /// Returns the value of the field if the variables `ones` are 1 and all other variables are 0.
    pub(crate) fn value(self, ones: &[u32]) -> u128 {
        let first = self.first_variable();
        ones.iter()
            .filter_map(|variable| variable.checked_sub(first).filter(|bit| *bit < self.bits()))
            .fold(0, |value, bit| value | 1 << (self.bits() - 1 - bit))
    }
}
