//! [`ClassRole`]: the roles of a scenario's classes, with their origins.

use serde::{Deserialize, Serialize};

use crate::role::Role;
use crate::scenario::Scenario;
use crate::traffic::{SourceConfig, TrafficConfig};

/// The origin of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoleOrigin {
    /// The key `role` of the traffic.
    Scenario,
    /// The source: a call, or adaptive video.
    Source,
    /// The codepoint, by RFC 4594.
    Codepoint,
}

/// A class of traffic, with the role of its first traffic entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassRole<'a> {
    /// The class.
    pub class: &'a str,
    /// The role of the class.
    pub role: Role,
    /// The origin of the role.
    pub origin: RoleOrigin,
}

impl TrafficConfig {
    /// Returns the role of this traffic, and its origin.
    pub fn role(&self) -> (Role, RoleOrigin) {
        match (self.role, &self.source) {
            (Some(role), _) => (role, RoleOrigin::Scenario),
            (None, SourceConfig::Voice(_)) => (Role::Voice, RoleOrigin::Source),
            (None, SourceConfig::Video(_)) => (Role::Streaming, RoleOrigin::Source),
            _ => (Role::of_codepoint(self.dscp), RoleOrigin::Codepoint),
        }
    }
}

impl Scenario {
    /// Returns the roles of the classes in results, except the classes of replies.
    pub fn class_roles(&self) -> Vec<ClassRole<'_>> {
        let mut found: Vec<ClassRole> = Vec::new();
        for traffic in &self.traffic {
            let class = traffic.class.as_ref().unwrap_or(&traffic.name);
            if found.iter().all(|role| role.class != class) {
                let (role, origin) = traffic.role();
                found.push(ClassRole { class, role, origin });
            }
        }
        found
    }
}
