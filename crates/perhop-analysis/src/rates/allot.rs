//! [`allot`]: the rate that each scheduler assigns to saturated classes.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use super::filling::fill;
use super::guarantee_excess;
use super::htb;
use super::limits::{allotment, bits, htb_guarantee};
use super::weights::{Got, Want, Whole, slope, weights_of_rest};

/// Returns the long-run share of `whole` for each class of `queueing`. Class i has its priority up to
/// `caps[i]`. HTB and guarantee-excess divide the rate among all classes of their tree at once, so `queueing`
/// must be the outermost level of a tree.
pub(super) fn allot(queueing: &QueueingConfig, whole: Whole, wants: &[Want], caps: &[f64]) -> Vec<Got> {
    let classes = &queueing.classes;
    let weights = weights_of_rest(queueing, whole);
    let tree = wants;
    let wants: &[f64] = &tree.iter().map(|want| want.rate).collect::<Vec<_>>();
    let got = match queueing.scheduler {
        SchedulerConfig::Htb => return htb::divide(queueing, whole.rate, tree),
        SchedulerConfig::GuaranteeExcess => return guarantee_excess::divide(queueing, whole.rate, tree),
        // A FIFO divides the rate in proportion to the offered loads. Loads without a limit are assumed to be
        // equal.
        SchedulerConfig::Fifo => fill(whole.rate, &vec![1.0; classes.len()], wants),
        SchedulerConfig::Priority => {
            let order = by_level(queueing);
            let mut got = in_order(&order, whole.rate, &limited(wants, caps));
            let left = (whole.rate - got.iter().sum::<f64>()).max(0.0);
            let beyond = in_order(&order, left, &missing(wants, &got));
            got.iter_mut().zip(beyond).for_each(|(got, beyond)| *got += beyond);
            got
        }
        SchedulerConfig::Hfsc => by_service_curves(classes, whole.rate, &weights, wants),
        SchedulerConfig::ThreeParameter | SchedulerConfig::Cbq => {
            let claims = claims(queueing, whole);
            // If the sum of the claims exceeds the rate, they are reduced in proportion.
            let sure = fill(whole.rate, &claims, &limited(&claims, wants));
            with_rest(queueing, sure, whole.rate, &weights, wants)
        }
        SchedulerConfig::Wrr
        | SchedulerConfig::Drr
        | SchedulerConfig::Scfq
        | SchedulerConfig::Wfq
        | SchedulerConfig::Wf2qPlus => fill(whole.rate, &weights, wants),
    };
    got.into_iter().map(Got::exact).collect()
}

/// Returns the rates at which the queues of [`allot`] are served. The rate of each class is computed without
/// the policer in front of its own queue.
pub(super) fn serve(queueing: &QueueingConfig, whole: Whole, wants: &[Want], caps: &[f64]) -> Vec<Got> {
    if queueing.scheduler == SchedulerConfig::Fifo {
        // In a FIFO, the packets of a class wait behind the packets of the other classes.
        return wants.iter().map(|want| Got::exact(whole.rate.min(want.held))).collect();
    }
    let mut found = allot(queueing, whole, wants, caps);
    for path in policed(wants) {
        let mut raised = wants.to_vec();
        raise(&mut raised, &path);
        let mut got = allot(queueing, whole, &raised, caps);
        at_path(&mut found, &path).rate = at_path(&mut got, &path).rate;
    }
    found
}

/// Returns the paths of the classes with a policer in front of their queue.
fn policed(wants: &[Want]) -> Vec<Vec<usize>> {
    let places = |(index, want): (usize, &Want)| {
        let mut found = policed(&want.inner);
        if want.inner.is_empty() && want.rate < want.held {
            found.push(Vec::new());
        }
        found.into_iter().map(move |inside| [vec![index], inside].concat()).collect::<Vec<_>>()
    };
    wants.iter().enumerate().flat_map(places).collect()
}

fn at_path<'g>(got: &'g mut [Got], path: &[usize]) -> &'g mut Got {
    match path {
        [first, inside @ ..] if !inside.is_empty() => at_path(&mut got[*first].inner, inside),
        _ => &mut got[path[0]],
    }
}

/// Removes the policer of the class at `path`. Returns the increase of its demand.
fn raise(wants: &mut [Want], path: &[usize]) -> f64 {
    let Some((first, inside)) = path.split_first() else { return 0.0 };
    let want = &mut wants[*first];
    let more = if inside.is_empty() { want.held - want.rate } else { raise(&mut want.inner, inside) };
    want.rate += more;
    more
}

/// Returns the rate of each class, which is its rate in `sure` plus its share of the excess. If classes have
/// levels, the excess is shared level by level.
fn with_rest(
    queueing: &QueueingConfig,
    sure: Vec<f64>,
    rate: f64,
    weights: &[f64],
    wants: &[f64],
) -> Vec<f64> {
    let rest = (rate - sure.iter().sum::<f64>()).max(0.0);
    let shared = in_levels(queueing, rest, weights, &missing(wants, &sure));
    sure.into_iter().zip(shared).map(|(sure, shared)| sure + shared).collect()
}

/// Returns the rates that classes demand in addition to `got`.
fn missing(wants: &[f64], got: &[f64]) -> Vec<f64> {
    wants.iter().zip(got).map(|(want, got)| (want - got).max(0.0)).collect()
}

fn limited(claims: &[f64], wants: &[f64]) -> Vec<f64> {
    claims.iter().zip(wants).map(|(claim, want)| claim.min(*want)).collect()
}

/// Returns the guaranteed rate of each class, before the excess is shared, bits per second.
///
/// In a tree of CBQ, HFSC or HTB, the guarantees of inner classes do not depend on the enclosing class. A
/// class that has not used its own rate does not borrow (Floyd and Jacobson 1995 §2.4; Linux `sch_htb`), and
/// the real-time criterion of H-FSC considers only leaves.
pub(super) fn claims(queueing: &QueueingConfig, whole: Whole) -> Vec<f64> {
    let claim = |class: &ClassConfig| {
        let inside =
            class.link_shared(queueing.scheduler).map_or(0.0, |inner| claims(inner, whole).iter().sum());
        written(queueing.scheduler, class, Some(whole.wire)).unwrap_or(0.0).max(inside)
    };
    queueing.classes.iter().map(claim).collect()
}

/// Returns the configured guarantee of a class, bits per second.
pub(super) fn written(scheduler: SchedulerConfig, class: &ClassConfig, wire: Option<f64>) -> Option<f64> {
    let share = &class.share;
    match scheduler {
        SchedulerConfig::ThreeParameter => share.minimum.map(bits),
        SchedulerConfig::Cbq => allotment(class, wire),
        SchedulerConfig::Htb => share.rate.map(htb_guarantee),
        SchedulerConfig::GuaranteeExcess => share.rate.map(bits),
        SchedulerConfig::Hfsc => share.real_time.map(|curve| bits(curve.m2)),
        // A weight that is configured as a rate is a guarantee of this rate, unless the sum of the weights
        // exceeds the available rate.
        SchedulerConfig::Scfq | SchedulerConfig::Wfq | SchedulerConfig::Wf2qPlus => share.bandwidth.map(bits),
        // Turns of WRR count packets of any length, so a configured bandwidth is not a guarantee.
        SchedulerConfig::Fifo | SchedulerConfig::Priority | SchedulerConfig::Wrr | SchedulerConfig::Drr => {
            None
        }
    }
}

/// Divides `rate` among classes in this order, each up to its demand.
fn in_order(order: &[usize], rate: f64, wants: &[f64]) -> Vec<f64> {
    let (mut left, mut got) = (rate, vec![0.0; wants.len()]);
    for index in order {
        got[*index] = wants[*index].min(left);
        left -= got[*index];
    }
    got
}

/// Divides `rate` by weight among the classes of the first level, then the remaining rate among the next
/// level.
fn in_levels(queueing: &QueueingConfig, rate: f64, weights: &[f64], wants: &[f64]) -> Vec<f64> {
    let levels: Vec<u16> = queueing.classes.iter().map(|class| level(queueing.scheduler, class)).collect();
    let mut order = levels.clone();
    order.sort_unstable();
    order.dedup();
    let (mut left, mut got) = (rate, vec![0.0; wants.len()]);
    for current in order {
        let of_level = |(weight, level): (&f64, &u16)| if *level == current { *weight } else { 0.0 };
        let weights: Vec<f64> = weights.iter().zip(&levels).map(of_level).collect();
        let shared = fill(left, &weights, wants);
        left = (left - shared.iter().sum::<f64>()).max(0.0);
        got.iter_mut().zip(shared).for_each(|(got, shared)| *got += shared);
    }
    got
}

/// Returns the level of a class of CBQ or HTB. A class with inner classes has the first level of its inner
/// classes.
fn level(scheduler: SchedulerConfig, class: &ClassConfig) -> u16 {
    if !matches!(scheduler, SchedulerConfig::Cbq | SchedulerConfig::Htb) {
        return 0;
    }
    match class.link_shared(scheduler) {
        Some(inner) => inner.classes.iter().map(|class| level(scheduler, class)).min().unwrap_or(0),
        None => class.share.level.unwrap_or(0),
    }
}

/// Returns the classes in the order in which strict priority serves them, by level or in the order of the
/// configuration.
pub(super) fn by_level(queueing: &QueueingConfig) -> Vec<usize> {
    let mut order: Vec<usize> = (0..queueing.classes.len()).collect();
    order.sort_by_key(|index| queueing.classes[*index].share.level.unwrap_or(0));
    order
}

/// Divides `rate` as HFSC does in the long run: each class gets its claim, or its share of the rate that the
/// other claims leave if that is larger (Stoica, Zhang and Ng 1997 §3).
fn by_service_curves(classes: &[ClassConfig], rate: f64, slopes: &[f64], wants: &[f64]) -> Vec<f64> {
    let mut claims: Vec<f64> =
        classes.iter().zip(wants).map(|(class, want)| claim(class).min(*want)).collect();
    let total: f64 = claims.iter().sum();
    if total > rate {
        for claim in &mut claims {
            *claim *= rate / total;
        }
    }
    // A class whose share of the remaining rate is below its claim gets the claim, and does not share the
    // remaining rate.
    let mut sharing: Vec<bool> = slopes.iter().map(|slope| *slope > 0.0).collect();
    loop {
        let claimed: f64 =
            claims.iter().zip(&sharing).map(|(claim, shares)| if *shares { 0.0 } else { *claim }).sum();
        let weights: Vec<f64> =
            slopes.iter().zip(&sharing).map(|(slope, shares)| if *shares { *slope } else { 0.0 }).collect();
        let parts = fill((rate - claimed).max(0.0), &weights, wants);
        let is_below = |index: usize| sharing[index] && parts[index] < claims[index];
        let below: Vec<usize> = (0..classes.len()).filter(|index| is_below(*index)).collect();
        if below.is_empty() {
            let get = |index: usize| if sharing[index] { parts[index] } else { claims[index] };
            return (0..classes.len()).map(get).collect();
        }
        for index in below {
            sharing[index] = false;
        }
    }
}

/// Returns the rate that a class of HFSC claims by deadlines. A class with inner classes claims the sum of
/// its leaves.
fn claim(class: &ClassConfig) -> f64 {
    match class.link_shared(SchedulerConfig::Hfsc) {
        Some(inner) => inner.classes.iter().map(claim).sum(),
        None => slope(class.share.real_time),
    }
}

/// Whether the class at `index` has strict priority over another class. The class that is served last does
/// not.
pub fn has_priority(queueing: &QueueingConfig, index: usize) -> bool {
    queueing.scheduler == SchedulerConfig::Priority && by_level(queueing).last() != Some(&index)
}
