//! Properties of a platform that its written configurations have: its sign, and the values that no line sets.

use super::Profile;

impl Profile {
    /// The profile that policies of other languages are written for.
    pub(crate) const OF_FOREIGN_POLICIES: Profile = Profile::Hqf;

    /// Returns the line that shows the platform when the configuration is read again.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Profile::PreHqf => "version 12.2",
            Profile::Vip7500 => "boot system flash slot0:rsp-jsv-mz.121-5.T8.bin",
            Profile::Hqf => "version 15.2",
            Profile::IosXe => "version 16.9",
        }
    }

    /// Returns the minimum thresholds of the precedences without a line for them in packets, next to a
    /// maximum of 40 packets and 1/10: outputs of routers before HQF and with it. Empty where they depend on
    /// the queue.
    pub(crate) fn usual_precedence_minima(self) -> &'static [u64] {
        match self {
            Profile::PreHqf | Profile::Vip7500 => &[20, 22, 24, 26, 28, 31, 33, 35],
            Profile::Hqf => &[20, 22, 24, 26, 28, 30, 32, 34],
            Profile::IosXe => &[],
        }
    }

    /// Whether the release has no hierarchical queueing framework.
    pub(crate) fn is_before_hqf(self) -> bool {
        matches!(self, Profile::PreHqf | Profile::Vip7500)
    }

    /// Returns the limit of a queue without a line for it in packets; `None` where it depends on the rate.
    /// Source: Cisco document 110850; Cisco, "Queue Depth" (IOS-XE 16.12) for priority classes.
    pub(crate) fn usual_limit(self, has_priority: bool) -> Option<u64> {
        match (self, has_priority) {
            (Profile::IosXe, true) => Some(512),
            (Profile::IosXe, false) => None,
            _ => Some(64),
        }
    }

    /// Whether codepoints without a line have thresholds that are the same in every queue.
    pub(crate) fn has_usual_thresholds(self) -> bool {
        !self.usual_precedence_minima().is_empty()
    }

    /// Whether classes with `random-detect` or `fair-queue` have the limit of 64 packets without a line for
    /// it.
    pub(crate) fn limits_early_drops(self) -> bool {
        self == Profile::Hqf
    }
}
