//! The rates that a policy promises its classes, in bits per second: guarantees and limits.

use std::collections::BTreeMap;

use perhop_qos::Rate;
use perhop_qos::action::Action;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

fn bits(rate: Rate) -> f64 {
    rate.as_bits_per_second() as f64
}

/// Returns the rate that a class is guaranteed, if a rate is written.
pub(crate) fn guarantee_of(class: &ClassConfig) -> Option<f64> {
    let share = &class.share;
    let written = share.minimum.or(share.bandwidth).or(share.rate);
    written.or(share.real_time.map(|curve| curve.m2)).map(bits)
}

/// Returns a guarantee apart from the share of the excess, as three-parameter schedulers have it, or 0.
pub(crate) fn minimum_of(class: &ClassConfig) -> f64 {
    class.share.minimum.map_or(0.0, bits)
}

/// Returns the weight of a class among its siblings: its bandwidth, quantum, fraction, slope or weight.
fn weight_of(class: &ClassConfig) -> f64 {
    let share = &class.share;
    let weight = share.weight.filter(|weight| *weight != 0.0);
    if share.minimum.is_some() {
        return weight.unwrap_or(1.0);
    }
    let rate = share.rate.or(share.bandwidth).map(bits);
    let quantum = share.quantum.map(|size| size.as_bytes() as f64);
    let fraction = share.fraction.filter(|fraction| *fraction != 0.0);
    let slope = share.link_share.map(|curve| bits(curve.m2));
    fraction.or(rate).or(quantum).or(weight).or(slope).unwrap_or(1.0)
}

/// Returns the weight by which a class shares the rest: 0 for one of HFSC that has a guarantee alone.
pub(crate) fn weight_of_rest(class: &ClassConfig) -> f64 {
    let is_guaranteed_alone = class.share.real_time.is_some() && class.share.link_share.is_none();
    if is_guaranteed_alone { 0.0 } else { weight_of(class) }
}

fn least(rates: impl IntoIterator<Item = f64>) -> Option<f64> {
    rates.into_iter().reduce(f64::min)
}

/// Returns the rate that a class is shaped to, by itself or by the CAKE in it.
pub(crate) fn shaper_of(class: &ClassConfig) -> Option<f64> {
    let cake = match &class.buffer {
        Some(BufferConfig::Cake(cake)) => cake.bandwidth,
        _ => None,
    };
    least([class.shape.map(|shape| shape.rate), cake].into_iter().flatten().map(bits))
}

/// Returns the lowest of the rates that a class is policed, capped, limited or shaped to.
pub(crate) fn limit_of(class: &ClassConfig) -> Option<f64> {
    let share = &class.share;
    let policed = [class.police.map(|police| police.rate), share.cap.map(|cap| cap.rate)];
    let limit = share.upper_limit.map(|curve| curve.m2).or(share.ceil).or(share.rate);
    let written = policed.into_iter().chain([limit]).flatten().map(bits);
    least(written.chain(shaper_of(class)))
}

/// Returns the rate above which a conditioner drops, if it does.
pub(crate) fn conditioner_limit(stage: &ConditionerConfig) -> Option<f64> {
    let drops = |actions: &[Action]| actions.contains(&Action::Drop);
    let (committed, peak) = rates_of(stage.meter.as_ref()?)?;
    if drops(&stage.yellow) {
        Some(committed)
    } else if drops(&stage.red) {
        Some(peak.unwrap_or(committed))
    } else {
        None
    }
}

/// Returns the committed rate of a meter, and the peak rate where it has one.
fn rates_of(meter: &MeterConfig) -> Option<(f64, Option<f64>)> {
    Some(match meter {
        MeterConfig::TokenBucket(meter) => (bits(meter.rate), None),
        MeterConfig::TokenBucketWithDebt(meter) => (bits(meter.rate), None),
        MeterConfig::PacketRate(meter) => (meter.rate.as_packets_per_second() as f64, None),
        MeterConfig::SingleRateTcm(meter) => (bits(meter.cir), None),
        MeterConfig::TwoRateTcm(meter) => (bits(meter.cir), Some(bits(meter.pir))),
        MeterConfig::Rfc4115(meter) => (bits(meter.cir), None),
        MeterConfig::Tsw2cm(meter) => (bits(meter.ctr), None),
        MeterConfig::Tsw3cm(meter) => (bits(meter.ctr), Some(bits(meter.ptr))),
        MeterConfig::EarlyTcm(meter) => (bits(meter.cir), None),
        MeterConfig::RateBased(_) => return None,
    })
}

/// Returns the rates above which the conditioners of a policy drop, by class.
pub(crate) fn conditioner_limits(policy: &PolicyConfig) -> BTreeMap<&str, f64> {
    let limits = policy.conditioners.iter().filter_map(|stage| {
        let name = stage.name.as_deref().unwrap_or_default();
        Some((name.rsplit('.').next().unwrap_or(name), conditioner_limit(stage)?))
    });
    limits.collect()
}

/// Returns the classes of strict priority, the first to be served first: by levels, else as written.
pub(crate) fn by_level(queueing: &QueueingConfig) -> Vec<usize> {
    let mut places: Vec<usize> = (0..queueing.classes.len()).collect();
    places.sort_by_key(|place| queueing.classes[*place].share.level.unwrap_or(0));
    places
}

/// Whether the class at `place` has strict priority; the last one to be served holds those without.
pub(crate) fn has_priority(queueing: &QueueingConfig, place: usize) -> bool {
    queueing.scheduler == SchedulerConfig::Priority && by_level(queueing).last() != Some(&place)
}

/// Returns what HFSC gives to classes that all want more: their claims, or a part of the rest.
pub(crate) fn by_service_curves(classes: &[&ClassConfig], rate: f64) -> Vec<f64> {
    let slopes: Vec<f64> = classes.iter().map(|one| weight_of_rest(one)).collect();
    let sure: Vec<f64> = classes.iter().map(|one| guarantee_of(one).unwrap_or(0.0).min(rate)).collect();
    let mut sharing: Vec<usize> = (0..classes.len()).filter(|place| slopes[*place] != 0.0).collect();
    loop {
        let claimed: f64 =
            (0..sure.len()).filter(|place| !sharing.contains(place)).map(|place| sure[place]).sum();
        let left = (rate - claimed).max(0.0);
        let total: f64 = sharing.iter().map(|place| slopes[*place]).sum();
        let part = |place: usize| left * slopes[place] / total;
        let more: Vec<usize> = sharing.iter().copied().filter(|place| part(*place) >= sure[*place]).collect();
        if more.len() == sharing.len() {
            let get = |place: usize| if sharing.contains(&place) { part(place) } else { sure[place] };
            return (0..sure.len()).map(get).collect();
        }
        sharing = more;
    }
}
