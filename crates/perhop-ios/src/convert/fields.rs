//! [`Fields`]: what policies write into packets, and what classes tell packets by.

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(u8);

impl Fields {
    /// The DS field: DSCP and precedence.
    pub(super) const CODEPOINT: Fields = Fields(1);
    /// The class of service of a VLAN tag.
    pub(super) const COS: Fields = Fields(2);
    /// The experimental bits of MPLS labels.
    pub(super) const EXP: Fields = Fields(4);
    /// The color: the router's discard class.
    pub(super) const COLOR: Fields = Fields(8);
    /// The label: the router's group.
    pub(super) const LABEL: Fields = Fields(16);

    /// Whether any of `others` is among them.
    pub(super) fn contain(self, others: Fields) -> bool {
        self.0 & others.0 != 0
    }
    /// These without `others`.
    pub(super) fn without(self, others: Fields) -> Fields {
        Fields(self.0 & !others.0)
    }
}

impl FromIterator<Fields> for Fields {
    fn from_iter<T: IntoIterator<Item = Fields>>(all: T) -> Fields {
        Fields(all.into_iter().fold(0, |all, one| all | one.0))
    }
}
