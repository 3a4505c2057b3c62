//! [`ProfileRules`]: the queueing rules of a platform as data. Each value has its source and its certainty.
//!
//! A profile is a TOML file with one table per rule:
//!
//! ```toml
//! [priority-queue-limit]
//! value = { kind = "fixed", packets = 512 }
//! certainty = "documented"
//! source = "Cisco, \"Queue Depth\" (IOS-XE 16.12)"
//! ```
//!
//! `base` names a profile that supplies the rules that the file does not define.

mod kinds;

use std::ops::Deref;

use perhop_qos::buffer::DropSpacing;
use perhop_qos::ring::{RingAdmission, RingRelease};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::platform_rule::{EvidenceKind, PlatformRule, RuleValue};

pub use kinds::{
    Acceptance, ClassFairQueue, CountedLength, DefaultLimit, EcnAboveMaximum, ExceedDefault, GuaranteeSum,
    Heeded, LimitPrecision, OutputMatch, OwnQueue, PeerLimit, PriorityQueue, QueueSelection, Scheduler,
    ShaperBurst, SubinterfaceQueues, UnreservedShare, WredDscpMinima, WredMaximum, WredMinima, WredTailLimit,
};

/// A value of a profile with its evidence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    value: T,
    /// The kind of evidence.
    pub certainty: EvidenceKind,
    /// The document and section, the device's output or the measurement.
    pub source: String,
    /// A remark on the value.
    #[serde(default)]
    pub note: Option<String>,
}

impl<T> Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Converts a value of a profile to a value of a table.
fn rule_value<T: Serialize>(value: &T) -> RuleValue {
    fn converted(value: Value) -> RuleValue {
        match value {
            Value::Integer(number) => RuleValue::Number(number),
            Value::Table(table) => RuleValue::WithNumbers(
                table.into_iter().map(|(key, value)| (key, converted(value))).collect(),
            ),
            other => RuleValue::Word(other.as_str().unwrap_or_default().to_owned()),
        }
    }
    converted(Value::try_from(value).expect("TOML holds the values it gave"))
}

/// Declares [`ProfileRules`] and its rows together, so that every rule has a row.
macro_rules! profile_rules {
    ($($(#[doc = $meaning:literal])+ $name:ident: $kind:ty,)+) => {
        /// The rules by which a platform queues.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct ProfileRules {
            $($(#[doc = $meaning])+ pub $name: Sourced<$kind>,)+
        }

        impl ProfileRules {
            /// Returns all rules in the order of their declaration.
            pub fn rows(&self) -> Vec<PlatformRule> {
                vec![$(PlatformRule {
                    rule: stringify!($name).replace('_', "-"),
                    meaning: concat!($($meaning),+).trim_start(),
                    value: rule_value(&*self.$name),
                    certainty: self.$name.certainty,
                    source: self.$name.source.clone(),
                    note: self.$name.note.clone(),
                }),+]
            }
        }
    };
}

profile_rules! {
    /// The scheduler of the classes without priority
    scheduler: Scheduler,
    /// The share of class-default and of queues without a guarantee
    unreserved_share: UnreservedShare,
    /// The maximum sum of guarantees
    guarantee_sum: GuaranteeSum,
    /// The command that sets the reservable part of an interface's rate
    reservable_command: Heeded,
    /// The number of priority levels
    priority_levels: u8,
    /// The limit of the priority classes of one level
    priority_queue: PriorityQueue,
    /// The burst of a priority class's policer, microseconds of its rate
    priority_burst_us: u64,
    /// The number of nested policies, including the attached policy
    policy_levels: usize,
    /// The classes with a queue of their own
    own_queue: OwnQueue,
    /// The mark that selects the queue of a packet if a class rewrites its mark
    queue_selection: QueueSelection,
    /// The limit of a class's queue
    class_queue_limit: DefaultLimit,
    /// The limit of a priority class's queue
    priority_queue_limit: DefaultLimit,
    /// The precision of a queue's limit in bytes
    limit_precision: LimitPrecision,
    /// The maximum of a queue's limit, bytes; 0 for no maximum
    limit_most_bytes: u64,
    /// The limit of a class's queue in a policy for the peers of a tunnel
    peer_queue_limit: PeerLimit,
    /// The limit of a queue with thresholds in bytes, microseconds of the class's rate
    byte_queue_us: u64,
    /// The limit of the only queue of an interface or circuit
    interface_queue_limit: DefaultLimit,
    /// The maximum rate of serial lines that queue flows fairly without a policy, bits per second
    fair_interface_bps: u64,
    /// Fair queueing of flows within a class
    class_fair_queue: ClassFairQueue,
    /// The maximum threshold of WRED
    wred_maximum: WredMaximum,
    /// The minimum thresholds of WRED by precedence
    wred_precedence_minima: WredMinima,
    /// The minimum thresholds of WRED by DSCP
    wred_dscp_minima: WredDscpMinima,
    /// The exponent n of the weight 2⁻ⁿ of WRED's average
    wred_exponent: u32,
    /// The mark probability denominator of WRED
    wred_denominator: u64,
    /// The limit of a queue with WRED
    wred_tail_limit: WredTailLimit,
    /// The distances between random drops
    wred_drop_spacing: DropSpacing,
    /// The treatment of ECN-capable packets above the maximum threshold of WRED
    wred_ecn_above_maximum: EcnAboveMaximum,
    /// A shaper in a class with priority
    priority_shaper: Heeded,
    /// The committed burst of a shaper
    shaper_burst: ShaperBurst,
    /// The burst of a policer, microseconds of its rate
    police_burst_us: u64,
    /// The minimum of the default burst of a policer, bytes
    police_burst_bytes: u64,
    /// The maximum of the default burst of a policer, bytes; 0 for no maximum
    police_burst_most_bytes: u64,
    /// The bytes of a packet that meters and schedulers count
    counted_length: CountedLength,
    /// Commands of a class that exclude each other or need another command, and mixed units of guarantees
    conflicting_commands: Acceptance,
    /// A guarantee in a class whose inner policy has queues
    minimum_around_queues: Acceptance,
    /// Queues of an input policy
    input_queues: Acceptance,
    /// Queues of a policy on a sub-interface
    subinterface_queues: SubinterfaceQueues,
    /// The fields that classes of an output policy match
    output_match: OutputMatch,
    /// An output policy
    output_policy: Acceptance,
    /// A policer in an output policy
    output_policer: Acceptance,
    /// The maximum number of classes of an output policy with queues; 0 for no maximum
    output_classes: u64,
    /// A qos-group and a codepoint set by one class of an input policy
    group_with_dscp: Acceptance,
    /// The treatment of packets between the two rates of a policer, without a configured action
    two_rate_exceed: ExceedDefault,
    /// Commands that divide the packet memory of a port
    memory_division: Acceptance,
    /// A queue limit in a class without a queue of its own
    lone_queue_limit: Acceptance,
    /// A particle of a circuit's transmit ring, IP bytes
    ring_particle_bytes: u64,
    /// Particles of a circuit's transmit ring
    ring_particles: u32,
    /// The free space that a packet needs to enter a circuit's transmit ring
    ring_admission: RingAdmission,
    /// The instant when a packet releases its particles
    ring_release: RingRelease,
}

impl ProfileRules {
    /// Reads a profile from TOML. `base_text` returns the text of a profile by its name.
    ///
    /// # Errors
    /// A rule is missing, is unknown, or has no source or certainty; or `base` does not exist.
    pub fn read(
        text: &str,
        base_text: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Result<ProfileRules, String> {
        merged(text, base_text)?.try_into().map_err(|error: toml::de::Error| error.to_string())
    }
}

/// Merges the rules of a profile with the rules of its base.
fn merged(text: &str, base_text: &dyn Fn(&str) -> Option<&'static str>) -> Result<Table, String> {
    let mut own: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let Some(base) = own.remove("base") else { return Ok(own) };
    let name = base.as_str().unwrap_or_default();
    let text = base_text(name).ok_or_else(|| format!("there is no base `{name}`"))?;
    let mut all = merged(text, base_text)?;
    all.extend(own);
    Ok(all)
}
