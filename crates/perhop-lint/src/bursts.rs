//! Rule for shapers with a bucket so large that long bursts are sent at the line rate.

use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::{ByteSize, Rate};

use crate::finding::{Finding, Place, Subject};
use crate::rules;

/// The largest usual burst, in milliseconds of the rate. It is twice the largest default interval of Cisco
/// IOS, 125 ms, because Be = Bc (Policing and Shaping Overview).
const LARGEST_USUAL_MS: f64 = 250.0;
/// Bytes of ten packets of 1500 bytes, the initial window of TCP (RFC 6928 §2).
const INITIAL_WINDOW: u64 = 15_000;

/// A shaper's rate, and the bytes that it passes at the line rate.
struct Bucket {
    rate: Rate,
    burst: ByteSize,
}

/// Reports a shaper of `class` that sends long bursts at the rate of a faster wire. `scheduler` is the
/// scheduler of the level.
pub(crate) fn check_class(
    subject: &Subject,
    class: &ClassConfig,
    scheduler: SchedulerConfig,
    place: &Place,
    found: &mut Vec<Finding>,
) {
    let is_outermost = matches!(place, Place::Class(path) if path.len() == 1);
    let Some(bucket) = bucket(class, scheduler, is_outermost) else { return };
    let rate = bucket.rate.as_bits_per_second();
    let is_slower = subject.wire.is_none_or(|wire| wire.rate > bucket.rate);
    let burst_ms = bucket.burst.as_bytes() as f64 * 8e3 / (rate as f64).max(1.0);
    if is_slower && bucket.burst.as_bytes() > INITIAL_WINDOW && burst_ms > LARGEST_USUAL_MS {
        found.push(Finding::new(
            &rules::SHAPE_BURST_LARGE,
            place.clone(),
            format!(
                "class {}: the shaper sends bursts of {} bytes at line rate, {burst_ms:.0} ms of its rate {}",
                class.name,
                bucket.burst.as_bytes(),
                bucket.rate
            ),
            format!(
                "write at most {:.0} bytes, {LARGEST_USUAL_MS:.0} ms",
                rate as f64 * LARGEST_USUAL_MS / 8e3
            ),
        ));
    }
}

/// Returns the bucket that limits the burst of a class. An HTB bucket that is not configured has the size of
/// one packet.
fn bucket(class: &ClassConfig, scheduler: SchedulerConfig, is_outermost: bool) -> Option<Bucket> {
    if let Some(shape) = class.shape {
        let burst = shape.burst.as_bytes().saturating_add(shape.excess.as_bytes());
        return Some(Bucket { rate: shape.rate, burst: ByteSize::from_bytes(burst) });
    }
    if scheduler == SchedulerConfig::GuaranteeExcess {
        return Some(Bucket { rate: class.share.ceil?, burst: class.share.ceil_burst? });
    }
    if scheduler != SchedulerConfig::Htb {
        return None;
    }
    // Linux sch_htb: a class sends while the buckets of its rate and its ceiling both have tokens. It borrows
    // while only the bucket of its ceiling has tokens. An outermost class has no class to borrow from.
    let share = &class.share;
    if is_outermost {
        return Some(Bucket { rate: share.rate?, burst: share.burst?.min(share.ceil_burst?) });
    }
    Some(Bucket { rate: share.ceil.or(share.rate)?, burst: share.ceil_burst? })
}
