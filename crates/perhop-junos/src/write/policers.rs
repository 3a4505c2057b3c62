//! [`Policer`]: writing of a meter as a policer.

use perhop_device::{Missing, NotesAt};
use perhop_qos::meter::{ColorMode, MeterConfig};

use super::outcomes::Metered;
use crate::cos::LossPriority;

/// A written policer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Policer {
    /// The words below `[edit firewall]`.
    pub(super) lines: Vec<String>,
    /// The action of a term.
    pub(super) action: String,
    /// The loss priority of packets that exceed the first bucket, if the policer has three colors.
    pub(super) yellow: Option<LossPriority>,
    /// The loss priority of packets that exceed all buckets; `None` if the policer drops them.
    pub(super) red: Option<LossPriority>,
}

/// Returns a meter as the policer `name`. `class` is the forwarding class of exceeding packets, if exceeding
/// changes it.
///
/// # Errors
/// Junos has no such meter.
pub(super) fn policer(
    name: &str,
    meter: &MeterConfig,
    metered: &Metered,
    class: Option<&str>,
    notes: &mut NotesAt,
) -> Result<Policer, Missing> {
    let three = |kind: &str, mode: ColorMode, values: [(&str, u64); 4]| {
        three_color(name, (kind, mode), &values, metered)
    };
    match meter {
        MeterConfig::TokenBucket(bucket) => {
            let (rate, burst) = (bucket.rate.as_bits_per_second(), bucket.burst.as_bytes());
            let limits = [format!("bandwidth-limit {rate}"), format!("burst-size-limit {burst}")];
            Ok(plain(name, "if-exceeding", &limits, metered, class))
        }
        MeterConfig::TokenBucketWithDebt(bucket) => {
            let reason = "a policer of Junos is one token bucket without debt";
            notes.report("a policer with an extended burst", reason);
            let (rate, burst) = (bucket.rate.as_bits_per_second(), bucket.burst.as_bytes());
            let limits = [format!("bandwidth-limit {rate}"), format!("burst-size-limit {burst}")];
            Ok(plain(name, "if-exceeding", &limits, metered, class))
        }
        MeterConfig::PacketRate(bucket) => {
            let rate = bucket.rate.as_packets_per_second();
            let limits = [format!("pps-limit {rate}"), format!("packet-burst {}", bucket.burst.count())];
            Ok(plain(name, "if-exceeding-pps", &limits, metered, class))
        }
        MeterConfig::SingleRateTcm(meter) => three(
            "single-rate",
            meter.mode,
            [
                ("committed-information-rate", meter.cir.as_bits_per_second()),
                ("committed-burst-size", meter.cbs.as_bytes()),
                ("excess-burst-size", meter.ebs.as_bytes()),
                ("", 0),
            ],
        ),
        MeterConfig::TwoRateTcm(meter) => three(
            "meter-rate",
            meter.mode,
            [
                ("committed-information-rate", meter.cir.as_bits_per_second()),
                ("committed-burst-size", meter.cbs.as_bytes()),
                ("peak-information-rate", meter.pir.as_bits_per_second()),
                ("peak-burst-size", meter.pbs.as_bytes()),
            ],
        ),
        other => {
            let kind = serde_json::to_value(other).unwrap_or_default();
            let kind = kind.as_object().and_then(|fields| fields.keys().next().cloned()).unwrap_or_default();
            let reason = "Junos has token buckets, RFC 2697 and RFC 2698";
            Err(Missing::new(format!("meter {kind}"), reason).instead("write a `token-bucket`"))
        }
    }
}

fn plain(name: &str, key: &str, limits: &[String], metered: &Metered, class: Option<&str>) -> Policer {
    let mut lines: Vec<String> = limits.iter().map(|limit| format!("policer {name} {key} {limit}")).collect();
    let red = (!metered.red.is_dropped).then_some(LossPriority::High);
    match red {
        None => lines.push(format!("policer {name} then discard")),
        Some(loss) => {
            lines.push(format!("policer {name} then loss-priority {}", loss.name()));
            lines.extend(class.map(|class| format!("policer {name} then forwarding-class {class}")));
        }
    }
    Policer { lines, action: format!("policer {name}"), yellow: None, red }
}

/// A three-color policer: yellow packets get the loss priority medium-high, and red packets get high or are
/// dropped.
fn three_color(
    name: &str,
    (kind, mode): (&str, ColorMode),
    values: &[(&str, u64)],
    metered: &Metered,
) -> Result<Policer, Missing> {
    let drops_yellow = metered.yellow.as_ref().is_some_and(|yellow| yellow.is_dropped);
    if drops_yellow && metered.red.is_dropped {
        let value = |key: &str| values.iter().find(|(known, _)| *known == key).map_or(0, |(_, value)| *value);
        let limits = [
            format!("bandwidth-limit {}", value("committed-information-rate")),
            format!("burst-size-limit {}", value("committed-burst-size")),
        ];
        return Ok(plain(name, "if-exceeding", &limits, metered, None));
    }
    if drops_yellow {
        return Err(Missing::new(
            "a meter that drops yellow packets but not red packets",
            "a policer of Junos drops red packets only, or all packets above one rate",
        ));
    }
    let color = match mode {
        ColorMode::ColorBlind => "color-blind",
        ColorMode::ColorAware => "color-aware",
    };
    let head = format!("three-color-policer {name}");
    let mut lines = vec![format!("{head} {kind} {color}")];
    let written = values.iter().filter(|(key, _)| !key.is_empty());
    lines.extend(written.map(|(key, value)| format!("{head} {kind} {key} {value}")));
    let red = (!metered.red.is_dropped).then_some(LossPriority::High);
    if red.is_none() {
        lines.push(format!("{head} action loss-priority high then discard"));
    }
    let action = format!("three-color-policer {kind} {name}");
    Ok(Policer { lines, action, yellow: Some(LossPriority::MediumHigh), red })
}
