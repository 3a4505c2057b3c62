//! Checks that parameters of TCP are consistent with each other.

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;

use super::parameters::{
    Accounting, Acknowledgment, CongestionControl, Counting, EcnFeedback, Headers, InitialWindow,
    LONGEST_DELAY, Parameters, Recovery, RtoRule, SlowStartExit, WindowReduction,
};

/// Returns an error for parameters that exclude each other or are out of range.
pub(super) fn check(parameters: &Parameters) -> Result<(), ConfigError> {
    check_counts(parameters)?;
    check_accounting(parameters)?;
    check_quic(parameters)?;
    check_feedback(parameters)?;
    check_alternative_backoff(parameters)?;
    check_offload(parameters)?;
    check_times(parameters)
}

fn check_counts(parameters: &Parameters) -> Result<(), ConfigError> {
    if parameters.initial_window == InitialWindow::Segments(0) {
        return Err(ConfigError::new("initial-window.segments", "`segments` must be at least 1")
            .help("RFC 5681 has 2 to 4; Linux has 10"));
    }
    if parameters.duplicate_threshold == 0 {
        return Err(ConfigError::new("duplicate-threshold", "`duplicate-threshold` must be at least 1")
            .help("3 is usual"));
    }
    if !parameters.maximum_back_off.is_power_of_two() {
        let message =
            format!("`maximum-back-off` must be a power of two, got {}", parameters.maximum_back_off);
        return Err(ConfigError::new("maximum-back-off", message).help("64 is usual"));
    }
    Ok(())
}

/// Checks the parameters that require `accounting: segments`, and the parameters that exclude it.
fn check_accounting(parameters: &Parameters) -> Result<(), ConfigError> {
    let needs = [
        ("recovery: rack", parameters.recovery == Recovery::Rack),
        ("recovery: quic", parameters.recovery == Recovery::Quic),
        ("rto-rule: quic", parameters.rto_rule == RtoRule::Quic),
        ("rto-rule: linux-6", parameters.rto_rule == RtoRule::Linux6),
        ("counting: segments", parameters.counting == Counting::Segments),
        ("window-reduction: proportional", parameters.window_reduction == WindowReduction::Proportional),
        ("slow-start-exit: hystart", parameters.slow_start_exit == SlowStartExit::Hystart),
        ("slow-start-exit: hystart++", parameters.slow_start_exit == SlowStartExit::HystartPlusPlus),
        ("tail-loss-probe: true", parameters.tail_loss_probe),
        ("undo: true", parameters.undo),
        ("frto: true", parameters.frto),
        ("congestion: dctcp", parameters.congestion == CongestionControl::Dctcp),
        ("congestion: prague", parameters.congestion == CongestionControl::Prague),
        ("congestion: bbr", parameters.congestion == CongestionControl::Bbr),
        ("congestion: bbr3", parameters.congestion == CongestionControl::Bbr3),
        ("congestion: ledbat", parameters.congestion == CongestionControl::Ledbat),
        ("ecn-feedback: dctcp", parameters.ecn_feedback == EcnFeedback::Dctcp),
        ("ecn-feedback: accurate", parameters.ecn_feedback == EcnFeedback::Accurate),
        ("pacing: true", parameters.pacing),
        ("segmentation-offload: {…}", parameters.segmentation_offload.is_some()),
    ];
    let by_segments = parameters.accounting == Accounting::Segments;
    if let Some((found, _)) = needs.iter().find(|(_, wanted)| *wanted && !by_segments) {
        let field = found.split(':').next().unwrap_or(found);
        return Err(ConfigError::new(field, format!("`{found}` needs `accounting: segments`"))
            .help("write `accounting: segments`; the profile linux-6 contains it"));
    }
    if parameters.congestion.has_model() && !parameters.pacing {
        return Err(ConfigError::new("pacing", "BBR needs `pacing: true`: it controls the rate by pacing")
            .help("remove `pacing`: BBR turns it on"));
    }
    if parameters.ack_compression && !is_adaptive(parameters) {
        let message = "`ack-compression: true` needs `acknowledgment: {adaptive: …}`";
        return Err(ConfigError::new("ack-compression", message)
            .help("write that acknowledgment, or `ack-compression: false`"));
    }
    if parameters.autotuning && !(is_adaptive(parameters) && parameters.timestamps) {
        let message = "`autotuning: true` needs `acknowledgment: {adaptive: …}` and `timestamps: true`";
        return Err(
            ConfigError::new("autotuning", message).help("write both; the profile linux-6 contains them")
        );
    }
    if by_segments && matches!(parameters.recovery, Recovery::Tahoe | Recovery::Reno) {
        let message = "the recovery of Tahoe and Reno needs `accounting: bytes`";
        return Err(ConfigError::new("recovery", message).help("write newreno, sack or rack"));
    }
    if parameters.congestion == CongestionControl::Ledbat && !parameters.timestamps {
        let message = "`congestion: ledbat` needs `timestamps: true`, because it measures delays by \
                       timestamps";
        return Err(ConfigError::new("timestamps", message)
            .help("remove `timestamps`: the profile linux-6 contains `timestamps: true`"));
    }
    if by_segments && parameters.counting == Counting::Bytes {
        let message = "`counting: bytes` needs `accounting: bytes`";
        return Err(ConfigError::new("counting", message).help("write segments or acknowledgments"));
    }
    Ok(())
}

/// Checks the parameters of QUIC. The loss detection, timeout and packets of QUIC require each other, and
/// exclude parameters of TCP.
fn check_quic(parameters: &Parameters) -> Result<(), ConfigError> {
    let is_quic = parameters.recovery == Recovery::Quic;
    let profile = "the profile `quic` sets both";
    if is_quic != (parameters.rto_rule == RtoRule::Quic) {
        let message = "`recovery: quic` and `rto-rule: quic` are valid only together";
        return Err(ConfigError::new(if is_quic { "rto-rule" } else { "recovery" }, message).help(profile));
    }
    if !is_quic {
        return match parameters.headers {
            Headers::Quic => Err(ConfigError::new("headers", "`headers: quic` needs `recovery: quic`")
                .help("write `added` for TCP")),
            Headers::Added | Headers::Included => Ok(()),
        };
    }
    let refused = [
        ("timestamps", "timestamps: true", parameters.timestamps),
        ("tail-loss-probe", "tail-loss-probe: true", parameters.tail_loss_probe),
        ("dsack", "dsack: true", parameters.dsack),
        ("undo", "undo: true", parameters.undo),
        ("frto", "frto: true", parameters.frto),
        ("segmentation-offload", "segmentation-offload: {…}", parameters.segmentation_offload.is_some()),
    ];
    if let Some((field, found, _)) = refused.iter().find(|(_, _, is_set)| *is_set) {
        let message = format!("`recovery: quic` is not possible with `{found}`");
        return Err(ConfigError::new(field, message).help(format!("remove `{field}`")));
    }
    if parameters.window_reduction == WindowReduction::Proportional {
        let message = "`recovery: quic` always reduces its window at once";
        return Err(ConfigError::new("window-reduction", message).help("write `at-once`"));
    }
    if !matches!(parameters.congestion, CongestionControl::Reno | CongestionControl::Cubic) {
        let message = "`recovery: quic` needs `congestion: reno` or `congestion: cubic`";
        return Err(
            ConfigError::new("congestion", message).help("write `reno`, which is the algorithm of RFC 9002")
        );
    }
    if !matches!(parameters.acknowledgment, Acknowledgment::Delayed { .. } | Acknowledgment::EveryPacket) {
        let message = "with `recovery: quic`, a receiver acknowledges every packet or every second packet";
        return Err(ConfigError::new("acknowledgment", message).help("write {delayed: {timeout: 25ms}}"));
    }
    if parameters.ecn_feedback != EcnFeedback::Accurate {
        let message = "with `recovery: quic`, acknowledgments count ECN marks, so `ecn-feedback` must be \
                       accurate";
        return Err(ConfigError::new("ecn-feedback", message).help("write `accurate`"));
    }
    Ok(())
}

/// Checks that a scalable congestion control has feedback with the number of marked packets.
fn check_feedback(parameters: &Parameters) -> Result<(), ConfigError> {
    let name = match parameters.congestion {
        CongestionControl::Reno
        | CongestionControl::Cubic
        | CongestionControl::Bbr
        | CongestionControl::Bbr3
        | CongestionControl::Ledbat => return Ok(()),
        CongestionControl::Dctcp => "dctcp",
        CongestionControl::Prague => "prague",
    };
    if !parameters.ecn {
        let message = format!("`congestion: {name}` needs `ecn: true`");
        return Err(
            ConfigError::new("ecn", message).help("remove `ecn`: this congestion control turns it on")
        );
    }
    if parameters.ecn_feedback == EcnFeedback::Classic {
        let message = format!("`congestion: {name}` needs the number of marked packets, not only one bit");
        return Err(ConfigError::new("ecn-feedback", message).help("write dctcp or accurate"));
    }
    Ok(())
}

/// Checks that `abe` is combined with ECN and with a congestion control that has a back-off factor for ECN
/// marks.
fn check_alternative_backoff(parameters: &Parameters) -> Result<(), ConfigError> {
    if !parameters.abe {
        return Ok(());
    }
    if !parameters.ecn {
        return Err(ConfigError::new("abe", "`abe: true` needs `ecn: true`").help("add `ecn: true`"));
    }
    if !matches!(parameters.congestion, CongestionControl::Reno | CongestionControl::Cubic) {
        let message = "`abe: true` needs `congestion: reno` or `cubic`";
        return Err(ConfigError::new("abe", message).help("RFC 8511 §3 defines factors for these two"));
    }
    Ok(())
}

/// The largest buffer of Linux's GSO, bytes: `GSO_MAX_SIZE`, eight times the largest IP packet.
const LARGEST_BURST: u64 = 8 * 65_535;

/// Checks that a burst has at least one segment.
fn check_offload(parameters: &Parameters) -> Result<(), ConfigError> {
    let Some(offload) = parameters.segmentation_offload else { return Ok(()) };
    let (largest, payload) = (offload.largest.as_bytes(), u64::from(parameters.payload()));
    if largest < payload || largest > LARGEST_BURST {
        let message =
            format!("`largest` must be from a segment ({payload}B) to {LARGEST_BURST}B, got {largest}B");
        return Err(ConfigError::new("segmentation-offload.largest", message)
            .help("Linux has 65215B, which is the default"));
    }
    Ok(())
}

fn is_adaptive(parameters: &Parameters) -> bool {
    matches!(parameters.acknowledgment, Acknowledgment::Adaptive { .. })
}

fn check_times(parameters: &Parameters) -> Result<(), ConfigError> {
    if parameters.clock == Time::ZERO {
        return Err(ConfigError::new("clock", "`clock` must be above 0").help("for example 10ms"));
    }
    if parameters.initial_rto == Time::ZERO {
        return Err(ConfigError::new("initial-rto", "`initial-rto` must be above 0").help("for example 1s"));
    }
    if parameters.maximum_rto < parameters.minimum_rto.max(parameters.initial_rto) {
        let message = format!(
            "`maximum-rto` ({}) must not be less than `minimum-rto` or `initial-rto`",
            parameters.maximum_rto
        );
        return Err(ConfigError::new("maximum-rto", message).help("60s is usual"));
    }
    let (field, wait) = match parameters.acknowledgment {
        Acknowledgment::EveryPacket => return Ok(()),
        Acknowledgment::Delayed { timeout, .. } => ("delayed.timeout", timeout),
        Acknowledgment::Estimated { first, .. } => ("estimated.first", first),
        Acknowledgment::Adaptive { least, most, .. } if most < least => {
            let message = format!("`most` ({most}) must not be less than `least` ({least})");
            return Err(ConfigError::new("acknowledgment.adaptive.most", message).help("Linux has 200ms"));
        }
        Acknowledgment::Adaptive { most, .. } if most > LONGEST_DELAY => ("adaptive.most", most),
        Acknowledgment::Adaptive { least, .. } => ("adaptive.least", least),
    };
    if wait == Time::ZERO || wait > LONGEST_DELAY {
        let message = format!("the delay of acknowledgments must be in (0, 500ms], got {wait}");
        return Err(ConfigError::new(&format!("acknowledgment.{field}"), message)
            .help("RFC 5681 §4.2 has at most 500ms; for no delay write `acknowledgment: every-packet`"));
    }
    Ok(())
}
