//! Properties of a platform for the writer of configurations: the line that reveals the platform, and the
//! defaults.

use super::Profile;

impl Profile {
    /// The profile for policies from other languages.
    pub(crate) const OF_FOREIGN_POLICIES: Profile = Profile::Hqf;

    /// Returns the line by which perhop recognizes the platform when it reads the written configuration.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Profile::PreHqf => "version 12.2",
            Profile::Vip7500 => "boot system flash slot0:rsp-jsv-mz.121-5.T8.bin",
            Profile::Hqf => "version 15.2",
            Profile::Iosv => "license udi pid IOSv sn 00000000000",
            Profile::IosXe => "version 16.9",
            Profile::Asr920 => "license udi pid ASR-920-24SZ-M sn FOC00000000",
            Profile::CatalystMls => "mls qos srr-queue input bandwidth 4 4",
            Profile::CatalystUadp => "qos queue-softmax-multiplier 100",
            Profile::CatalystSiliconOne => "license udi pid C9500X-28C8D sn FOC00000000",
            Profile::Nexus9000 => "version 9.3(5)",
            Profile::Asr9000 => "!! IOS XR Configuration 7.3.2",
            Profile::Ncs5500 => "hw-module profile qos hqos-enable",
        }
    }

    /// Returns the default minimum thresholds of the precedences, packets, for a maximum of 40 packets and
    /// probability 1/10. Returns an empty list if the defaults depend on the queue. Source: outputs of
    /// routers with and without HQF.
    pub(crate) fn usual_precedence_minima(self) -> &'static [u64] {
        match self {
            Profile::PreHqf | Profile::Vip7500 => &[20, 22, 24, 26, 28, 31, 33, 35],
            Profile::Hqf | Profile::Iosv | Profile::CatalystMls => &[20, 22, 24, 26, 28, 30, 32, 34],
            Profile::IosXe
            | Profile::Asr920
            | Profile::CatalystUadp
            | Profile::CatalystSiliconOne
            | Profile::Nexus9000
            | Profile::Asr9000
            | Profile::Ncs5500 => &[],
        }
    }

    /// Whether the release has no hierarchical queueing framework.
    pub(crate) fn is_before_hqf(self) -> bool {
        matches!(self, Profile::PreHqf | Profile::Vip7500)
    }

    /// Returns the default queue limit, packets; `None` if it depends on the rate. Source: Cisco document
    /// 110850; Cisco, "Queue Depth" (IOS-XE 16.12) for priority classes.
    pub(crate) fn usual_limit(self, has_priority: bool) -> Option<u64> {
        match (self, has_priority) {
            (Profile::IosXe, true) => Some(512),
            (Profile::IosXe, false)
            | (
                Profile::CatalystUadp
                | Profile::CatalystSiliconOne
                | Profile::Nexus9000
                | Profile::Asr9000
                | Profile::Ncs5500,
                _,
            ) => None,
            _ => Some(64),
        }
    }

    /// Whether the default thresholds of codepoints are the same in every queue.
    pub(crate) fn has_usual_thresholds(self) -> bool {
        !self.usual_precedence_minima().is_empty()
    }

    /// Whether the default limit of classes with `random-detect` or `fair-queue` is 64 packets.
    pub(crate) fn limits_early_drops(self) -> bool {
        self == Profile::Hqf
    }
}
