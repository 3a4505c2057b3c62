//! [`Fields`]: the fields that policies write and classes match.

/// A set of fields of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields(u8);

impl Fields {
    /// The DS field: DSCP and precedence.
    pub const CODEPOINT: Fields = Fields(1);
    /// The class of service of a VLAN tag.
    pub const COS: Fields = Fields(2);
    /// The experimental bits of MPLS labels.
    pub const EXP: Fields = Fields(4);
    /// The color: the drop precedence within the device.
    pub const COLOR: Fields = Fields(8);
    /// The label: the forwarding class within the device.
    pub const LABEL: Fields = Fields(16);

    /// Whether both sets have a common field.
    pub fn intersects(self, others: Fields) -> bool {
        self.0 & others.0 != 0
    }
    /// Returns the union with `others`.
    pub fn and(self, others: Fields) -> Fields {
        Fields(self.0 | others.0)
    }
    /// Returns the fields without `others`.
    pub fn without(self, others: Fields) -> Fields {
        Fields(self.0 & !others.0)
    }
}

impl FromIterator<Fields> for Fields {
    fn from_iter<T: IntoIterator<Item = Fields>>(all: T) -> Fields {
        Fields(all.into_iter().fold(0, |all, one| all | one.0))
    }
}
