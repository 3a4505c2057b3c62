//! The policies that the parts of a configuration name.

use serde::Serialize;

/// The policies that one part of a configuration names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyUses {
    /// The policy that the part defines; `None` if the part is an interface or another place to which
    /// policies are attached.
    pub policy: Option<String>,
    /// The names of the policies that the part uses, in order.
    pub uses: Vec<String>,
}

/// An added interface with an unattached policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MadeInterface {
    /// The name of the interface.
    pub name: String,
    /// The policy for departing packets.
    pub policy: String,
    /// The commands that add the interface.
    pub commands: Vec<String>,
}
