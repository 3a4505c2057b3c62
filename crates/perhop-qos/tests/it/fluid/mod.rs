//! Generalized processor sharing as a fluid, in an independent simulation. It is the reference for the packet
//! schedulers. It uses floating point, and neither tags nor virtual times.

use std::collections::VecDeque;

use super::wire::Arrival;

/// The times in seconds at which the fluid server finishes each packet. The server sends `rate` bytes per
/// second and serves all backlogged classes at the same time, in proportion to `weights`.
pub(crate) fn finish_times(arrivals: &[Arrival], weights: &[f64], rate: f64) -> Vec<f64> {
    let mut finish = vec![f64::NAN; arrivals.len()];
    // The queued packets of each class, and the bytes of each packet that are not yet served.
    let mut held: Vec<VecDeque<(usize, f64)>> = vec![VecDeque::new(); weights.len()];
    let (mut now, mut next) = (0.0, 0);
    loop {
        let active: f64 = held.iter().zip(weights).filter(|(q, _)| !q.is_empty()).map(|(_, w)| w).sum();
        let arrival = arrivals.get(next).map_or(f64::INFINITY, |arrival| arrival.at.as_seconds());
        let speed = |class: usize| rate * weights[class] / active;
        let until_departure = |(class, queue): (usize, &VecDeque<(usize, f64)>)| {
            queue.front().map(|(_, left)| (left / speed(class), class))
        };
        let departure =
            held.iter().enumerate().filter_map(until_departure).min_by(|a, b| a.0.total_cmp(&b.0));
        let (step, departing) = match departure {
            Some((span, class)) if now + span <= arrival => (span, Some(class)),
            _ if arrival.is_finite() => ((arrival - now).max(0.0), None),
            _ => return finish,
        };
        for (class, queue) in held.iter_mut().enumerate() {
            if let Some((_, left)) = queue.front_mut() {
                *left -= speed(class) * step;
            }
        }
        now = if departing.is_none() { arrival } else { now + step };
        if let Some(class) = departing {
            let (packet, _) = held[class].pop_front().unwrap();
            finish[packet] = now;
        } else {
            let Arrival { queue, length, .. } = arrivals[next];
            held[queue].push_back((next, f64::from(length)));
            next += 1;
        }
    }
}

/// The rate of each class by water-filling. Each class demands its entry of `demands`. It receives at most
/// its weighted share of the rate that the other classes do not use.
pub(crate) fn water_filling(demands: &[f64], weights: &[f64], rate: f64) -> Vec<f64> {
    let mut shares = vec![f64::NAN; demands.len()];
    loop {
        let open: Vec<usize> = (0..demands.len()).filter(|class| shares[*class].is_nan()).collect();
        let left = rate - shares.iter().filter(|share| !share.is_nan()).sum::<f64>();
        let weight: f64 = open.iter().map(|class| weights[*class]).sum();
        let content: Vec<usize> =
            open.iter().copied().filter(|class| demands[*class] <= left * weights[*class] / weight).collect();
        if content.is_empty() {
            for class in open {
                shares[class] = left * weights[class] / weight;
            }
            return shares;
        }
        for class in content {
            shares[class] = demands[class];
        }
    }
}
