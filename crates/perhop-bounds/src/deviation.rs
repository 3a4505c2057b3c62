//! Delay and backlog: the distances between an arrival curve and a service curve (Le Boudec and Thiran 2001,
//! §1.4).

use crate::arrival::Arrival;
use crate::service::Service;

/// Returns the delay in seconds: the greatest horizontal distance between the curves; `None` if it is
/// unbounded.
pub fn delay(arrival: &Arrival, service: &Service) -> Option<f64> {
    if arrival.rate() > service.rate() {
        return None;
    }
    let corners = arrival.corners().map(|corner| arrival.at(corner)).chain(service.corners());
    // Between two corners, the delay is a linear function of the amount, so the maximum is at a corner.
    // Amounts up to the burst arrive at once.
    let amounts = corners.filter(|amount| amount.is_finite()).chain([arrival.burst()]);
    let late = |amount: f64| service.time(amount) - arrival.time_until(amount);
    let greatest = amounts.filter(|amount| *amount >= arrival.burst()).map(late).fold(0.0, f64::max);
    greatest.is_finite().then_some(greatest)
}

/// Returns the [`delay`] if packets of one length arrive, so that all amounts are multiples of `grain`.
pub fn delay_of_grains(arrival: &Arrival, service: &Service, grain: f64) -> Option<f64> {
    delay(arrival, service)?;
    let corners = arrival.corners().map(|corner| arrival.at(corner)).chain(service.corners());
    let late = |grains: f64| service.time(grains * grain) - arrival.time_until(grains * grain);
    // A rounding error must not remove a packet from the initial burst.
    let whole_grains = |amount: f64| (amount / grain + 1e-9).floor().max(1.0);
    // The delay is a concave function of the amount. The maximum over whole packets is therefore at an amount
    // next to the maximum over all amounts.
    let at_once = whole_grains(arrival.burst());
    let nearest = corners.filter(|amount| amount.is_finite()).map(whole_grains);
    let all = nearest.flat_map(|grains| [grains, grains + 1.0]).chain([at_once, at_once + 1.0]);
    Some(all.filter(|grains| *grains >= at_once).map(late).fold(0.0, f64::max))
}

/// Returns the backlog in the unit of the curves: the greatest vertical distance between them; `None` if it
/// is unbounded.
pub fn backlog(arrival: &Arrival, service: &Service) -> Option<f64> {
    if arrival.rate() > service.rate() {
        return None;
    }
    let turning = service.lines().iter().map(|line| line.latency);
    let crossing = service.corners().map(|amount| service.time(amount));
    let spans = arrival.corners().chain(turning).chain(crossing).chain([0.0]);
    let waiting = |span: f64| arrival.at(span) - service.at(span);
    let greatest = spans.filter(|span| span.is_finite()).map(waiting).fold(0.0, f64::max);
    greatest.is_finite().then_some(greatest)
}

/// Increases a bound by the largest possible rounding error: one part in 10⁷, plus 10⁻⁹ (a nanosecond, or a
/// billionth of a byte). Weights of schedulers are multiples of 2⁻⁴⁸ of their sum. A weight of 2⁻²⁴ of the
/// sum therefore has an error of up to one part in 10⁷.
pub fn widened(bound: f64) -> f64 {
    bound * (1.0 + 1e-7) + 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_bucket_before_a_rate_and_a_latency() {
        // Le Boudec and Thiran 2001, §1.4.2: d = T + b / R, backlog b + r T.
        let (arrival, service) = (Arrival::token_bucket(3000.0, 1e5), Service::rate_latency(5e5, 2e-3));
        assert!((delay(&arrival, &service).unwrap() - 8e-3).abs() < 1e-12);
        assert!((backlog(&arrival, &service).unwrap() - 3200.0).abs() < 1e-9);
        assert_eq!(delay(&Arrival::token_bucket(1.0, 6e5), &service), None);
        assert_eq!(backlog(&Arrival::token_bucket(1.0, 6e5), &service), None);
    }

    #[test]
    fn arrivals_are_whole_packets() {
        // A burst of 1.4 packets is one whole packet. The second packet arrives 6 ms later, long after the
        // first has been sent.
        let (arrival, service) = (Arrival::token_bucket(1400.0, 1e5), Service::rate_latency(5e5, 2e-3));
        assert!((delay(&arrival, &service).unwrap() - 4.8e-3).abs() < 1e-12);
        assert!((delay_of_grains(&arrival, &service, 1000.0).unwrap() - 4e-3).abs() < 1e-12);
        // If packets arrive at the rate of the service, each has the same delay as the first. At a higher
        // rate, the delay is unbounded.
        let even = Arrival::token_bucket(1400.0, 5e5);
        assert!((delay_of_grains(&even, &service, 1000.0).unwrap() - 4.8e-3).abs() < 1e-3);
        assert_eq!(delay_of_grains(&Arrival::token_bucket(1400.0, 6e5), &service, 1000.0), None);
    }

    #[test]
    fn a_peak_rate_and_two_lines() {
        // This flow has the specification M = 1500, p = 10⁶, b = 5500, r = 10⁵ (RFC 2212). The buckets 1500 +
        // 10⁶ t and 5500 + 10⁵ t cross at 4.444… ms, at an amount of 5944.4 bytes.
        let arrival = Arrival::token_bucket(1500.0, 1e6).within(&Arrival::token_bucket(5500.0, 1e5));
        let service = Service::rate_latency(5e5, 1e-3);
        // The formula of RFC 2212: (b − M)(p − R) / R (p − r) + M / R + latency.
        let formula = 4000.0 * 5e5 / (5e5 * 9e5) + 1500.0 / 5e5 + 1e-3;
        assert!((delay(&arrival, &service).unwrap() - formula).abs() < 1e-12);
        // The rate of the second line is twice as high, and its latency is 3 ms. Both lines reach 2000 bytes
        // at 5 ms.
        let both = service.or(&Service::rate_latency(1e6, 3e-3));
        let with_both = delay(&arrival, &both).unwrap();
        // The delay is 3 + 5.944 − 4.444 ms at 5944.4 bytes, and 5 − 0.5 ms at 2000 bytes.
        assert!((with_both - 4.5e-3).abs() < 1e-9, "{with_both}");
        assert!(widened(with_both) > with_both);
    }
}
