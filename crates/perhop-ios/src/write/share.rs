//! Writing of shares, priorities and shapers.

use perhop_device::Missing;
use perhop_qos::policer::PoliceWhen;
use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::{ShapeConfig, ShapeForm, ShareConfig};

use super::words;
use crate::platform::Profile;

/// The largest ratio. Ratios are whole numbers.
const MOST_RATIO: f64 = 65_536.0;

/// Returns the `bandwidth` line for a share.
///
/// # Errors
/// No command can express the share.
pub(super) fn share_lines(
    share: &ShareConfig,
    profile: Profile,
    of_bits: Option<u64>,
) -> Result<Vec<String>, Missing> {
    let unknown = [
        ("cap", share.cap.is_some()),
        ("quantum", share.quantum.is_some()),
        ("level", share.level.is_some()),
    ];
    let unknown: Vec<&str> = unknown.into_iter().filter_map(|(key, is_set)| is_set.then_some(key)).collect();
    if !unknown.is_empty() {
        let construct = format!("share: {}", unknown.join(", "));
        return Err(Missing::new(construct, "classes of IOS have a bandwidth or a ratio"));
    }
    if let Some(least) = share.minimum.or(share.bandwidth) {
        return match share.weight {
            Some(weight) if weight.to_bits() != 1.0_f64.to_bits() => {
                let construct = format!("share: minimum {least} and weight {weight}");
                Err(Missing::new(construct, "a class has one `bandwidth` line"))
            }
            _ => Ok(vec![format!("bandwidth {}", words::rate(least, of_bits)?)]),
        };
    }
    let Some(weight) = share.weight else { return Ok(Vec::new()) };
    let construct = || format!("share: weight {weight}");
    if weight.fract() != 0.0 || !(1.0..=MOST_RATIO).contains(&weight) {
        return Err(Missing::new(construct(), "ratios are whole numbers from 1 to 65536"));
    }
    if profile.is_before_hqf() {
        return Err(Missing::new(construct(), "classes before HQF share by bandwidth")
            .instead("write `bandwidth` in place of `weight`"));
    }
    Ok(vec![format!("bandwidth remaining ratio {weight}")])
}

/// Returns the `priority` line for a class of priority level `level`.
///
/// # Errors
/// No command can express the rate of the class.
pub(super) fn priority(
    class: &ClassConfig,
    level: usize,
    of_bits: Option<u64>,
) -> Result<Vec<String>, Missing> {
    let words = if level == 1 { "priority".to_owned() } else { format!("priority level {level}") };
    let Some(police) = class.police.filter(|police| police.when == PoliceWhen::Congested) else {
        return Ok(vec![words]);
    };
    let burst = police.burst.as_bytes();
    // The burst is omitted if it is the router's default, 200 ms of the rate.
    let usual = (police.rate.as_bits_per_second() / 40).max(1);
    let burst = if burst == usual { String::new() } else { format!(" {burst}") };
    Ok(vec![format!("{words} {}{burst}", words::rate(police.rate, of_bits)?)])
}

/// Returns `shape average` or `shape peak` with its bursts in bits.
pub(super) fn shape_line(shape: ShapeConfig) -> String {
    let form = match shape.form {
        ShapeForm::Average => "average",
        ShapeForm::Peak => "peak",
    };
    let (burst, excess) = (8 * shape.burst.as_bytes(), 8 * shape.excess.as_bytes());
    format!("shape {form} {} {burst} {excess}", shape.rate.as_bits_per_second())
}
