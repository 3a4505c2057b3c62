//! [`LinkSetting`]: the settings of a port that must match the other end of its link.

use serde::Serialize;

/// A setting of a port that must match the other end of its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSetting {
    /// The setting.
    pub kind: LinkSettingKind,
    /// The value of the setting, as text.
    pub value: String,
    /// The line that sets it, otherwise the first line of the block that would contain it.
    pub line: usize,
    /// Whether a line sets it; `false` for a default.
    pub is_set: bool,
}

/// The kind of a [`LinkSetting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkSettingKind {
    /// The seconds between hellos of OSPF (RFC 2328 §10.5).
    OspfHello,
    /// The seconds after which OSPF considers a silent neighbor lost (RFC 2328 §10.5).
    OspfDead,
    /// The type of network of OSPF (RFC 2328 §9.4).
    OspfNetwork,
    /// The type of network of IS-IS (RFC 5309).
    IsisNetwork,
    /// The levels of IS-IS. One common level is sufficient (ISO 10589 §8.4.2).
    IsisLevels,
    /// The style of IS-IS metrics (RFC 5305). `transition` is compatible with both other styles.
    IsisMetrics,
    /// Whether packets with labels pass (RFC 3031).
    Labels,
    /// The transmission time of a fragment of a bundle (RFC 1990).
    FragmentDelay,
    /// Whether a bundle sends short packets between the fragments of long packets.
    Interleaving,
    /// The number of usable links of a bundle.
    BundleLinks,
}

impl LinkSettingKind {
    /// Returns the name of the setting.
    pub fn words(self) -> &'static str {
        match self {
            LinkSettingKind::OspfHello => "hello interval of OSPF",
            LinkSettingKind::OspfDead => "dead interval of OSPF",
            LinkSettingKind::OspfNetwork => "network type of OSPF",
            LinkSettingKind::IsisNetwork => "network type of IS-IS",
            LinkSettingKind::IsisLevels => "levels of IS-IS",
            LinkSettingKind::IsisMetrics => "metric style of IS-IS",
            LinkSettingKind::Labels => "MPLS",
            LinkSettingKind::FragmentDelay => "fragment delay",
            LinkSettingKind::Interleaving => "interleaving",
            LinkSettingKind::BundleLinks => "number of usable links of the bundle",
        }
    }

    /// Whether link ends with these values match.
    pub fn fits(self, own: &str, other: &str) -> bool {
        match self {
            LinkSettingKind::IsisLevels => own.chars().any(|level| level != '-' && other.contains(level)),
            LinkSettingKind::IsisMetrics => own == other || [own, other].contains(&"transition"),
            _ => own == other,
        }
    }

    /// Returns the value of a port without this setting, for a comparison with the other end of the link.
    /// `None` if a missing setting is not a difference.
    pub fn absent(self) -> Option<&'static str> {
        (self == LinkSettingKind::Labels).then_some("off")
    }
}

#[cfg(test)]
mod tests {
    use super::LinkSettingKind::{IsisLevels, IsisMetrics, OspfHello};

    #[test]
    fn overlapping_levels_and_styles_agree() {
        for (kind, own, other, fits) in [
            (IsisLevels, "1", "2", false),
            (IsisLevels, "1-2", "2", true),
            (IsisMetrics, "narrow", "wide", false),
            (IsisMetrics, "transition", "wide", true),
            (OspfHello, "5", "10", false),
        ] {
            assert_eq!(kind.fits(own, other), fits, "{kind:?} {own} {other}");
        }
    }
}
