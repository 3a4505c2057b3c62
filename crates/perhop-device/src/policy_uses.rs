//! The policies that the parts of a configuration name.

use serde::Serialize;

/// The policies that one part of a configuration names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyUses {
    /// The policy that the part defines; `None` for an interface or another place of policies.
    pub policy: Option<String>,
    /// The names, in order.
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
