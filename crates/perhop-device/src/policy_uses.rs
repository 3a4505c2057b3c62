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
    /// Its name.
    pub name: String,
    /// The policy for departing packets.
    pub policy: String,
    /// The commands that add it.
    pub commands: Vec<String>,
}
