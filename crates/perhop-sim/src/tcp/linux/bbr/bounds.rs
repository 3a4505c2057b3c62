//! [`Bounds`]: bounds on rate and flight, from losses and marks (`bw_lo`, `inflight_lo`, `inflight_hi`).

use super::super::rate::Departure;
use super::facts::{Facts, LEAST_WINDOW, ONE};

/// The values of a rate and of a flight without a bound.
pub(super) const NO_RATE: u64 = u64::MAX;
pub(super) const NO_FLIGHT: u32 = u32::MAX;
/// The fraction by which losses reduce rate and flight, so that 0.7 of them remains (`bbr_beta`).
const BETA: u32 = ONE * 30 / 100;
/// The fraction of the flight that is left for other flows and for the next probe: 15 %
/// (`bbr_inflight_headroom`).
const HEADROOM: u32 = ONE * 15 / 100;
/// The maximum fractions of lost segments (2 %) and of marked segments (50 %). Above them, too much is in
/// flight (`bbr_loss_thresh`, `bbr_ecn_thresh`).
const MOST_LOSS: u32 = ONE * 2 / 100;
pub(super) const MOST_MARKS: u32 = ONE / 2;
/// Marks reduce the flight by a third of the fraction of marks (`bbr_ecn_factor`).
const MARK_FACTOR: u32 = ONE / 3;

/// The bounds, and the deliveries of the last round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The short-term bound on the rate, from losses and marks since the last probe (`bw_lo`).
    pub(super) low_rate: u64,
    /// The short-term bound on the flight (`inflight_lo`).
    pub(super) low_flight: u32,
    /// The largest flight without excessive loss (`inflight_hi`).
    pub(super) high_flight: u32,
    /// The maximum delivery rate of the last round trip (`bw_latest`).
    pub(super) latest_rate: u64,
    /// The maximum number of segments delivered in the last round trip (`inflight_latest`).
    pub(super) latest_flight: u32,
    /// The bounds before the last losses.
    undo: (u64, u32, u32),
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            low_rate: NO_RATE,
            low_flight: NO_FLIGHT,
            high_flight: NO_FLIGHT,
            latest_rate: 0,
            latest_flight: 0,
            undo: (0, 0, 0),
        }
    }
}

impl Bounds {
    /// Removes the short-term bounds (`bbr_reset_lower_bounds`).
    pub(super) fn lift(&mut self) {
        (self.low_rate, self.low_flight) = (NO_RATE, NO_FLIGHT);
    }
    /// Saves the bounds when losses begin (`bbr_ssthresh`).
    pub(super) fn save(&mut self) {
        self.undo = (self.low_rate, self.low_flight, self.high_flight);
    }
    /// Restores the bounds after a spurious loss (`bbr_undo_cwnd`).
    pub(super) fn restore(&mut self) {
        self.low_rate = self.low_rate.max(self.undo.0);
        self.low_flight = self.low_flight.max(self.undo.1);
        self.high_flight = self.high_flight.max(self.undo.2);
    }

    /// Lowers the bounds after a round trip with losses, or with marks whose mean fraction is `alpha`
    /// (`bbr_adapt_lower_bounds`). The path delivers at most `rate`. The congestion window is `window`.
    pub(super) fn lower(&mut self, rate: u64, window: u32, has_losses: bool, alpha: Option<u32>) {
        let mut by_marks = NO_FLIGHT;
        if let Some(alpha) = alpha {
            self.begin_flight(window);
            by_marks = part(self.low_flight, ONE - ((alpha * MARK_FACTOR) >> 8));
        }
        if has_losses {
            if self.low_rate == NO_RATE {
                self.low_rate = rate;
            }
            self.begin_flight(window);
            let left = ONE - BETA;
            let less = (u128::from(self.low_rate) * u128::from(left)) >> 8;
            self.low_rate = self.latest_rate.max(less as u64);
            self.low_flight = self.latest_flight.max(part(self.low_flight, left));
        }
        self.low_flight = self.low_flight.min(by_marks);
        self.low_rate = self.low_rate.max(1);
    }
    fn begin_flight(&mut self, window: u32) {
        if self.low_flight == NO_FLIGHT {
            self.low_flight = window;
        }
    }

    /// Lowers `high_flight`, because `in_flight` was too high (`bbr_handle_inflight_too_high`). `target` is
    /// the flight of the model.
    pub(super) fn cut_high_flight(&mut self, in_flight: u32, target: u32) {
        self.high_flight = in_flight.max(part(target, ONE - BETA));
    }
    /// Returns the bound `high_flight` less the headroom for other flows (`bbr_inflight_with_headroom`).
    pub(super) fn with_headroom(&self) -> u32 {
        if self.high_flight == NO_FLIGHT {
            return NO_FLIGHT;
        }
        let headroom = part(self.high_flight, HEADROOM).max(1);
        self.high_flight.saturating_sub(headroom).max(LEAST_WINDOW)
    }
}

/// Returns `parts` 256ths of `whole`.
pub(super) fn part(whole: u32, parts: u32) -> u32 {
    ((u64::from(whole) * u64::from(parts)) >> 8) as u32
}

/// Whether `lost` of `in_flight` segments are too many (`bbr_is_inflight_too_high`).
pub(super) fn loses_too_many(lost: u32, in_flight: u32) -> bool {
    lost > 0 && in_flight > 0 && lost > part(in_flight, MOST_LOSS)
}
/// Whether `marked` of `delivered` segments are too many (`bbr_is_inflight_too_high`).
pub(super) fn marks_too_many(marked: u32, delivered: u32) -> bool {
    marked > 0 && delivered > 0 && marked > part(delivered, MOST_MARKS)
}

/// Returns the flight at which the losses became too many (`bbr_inflight_hi_from_lost_skb`). It is the flight
/// before the segment of `departure` plus x, where (lost + x) / (in flight + x) is the threshold.
pub(super) fn flight_before_loss(facts: &Facts, departure: &Departure) -> u32 {
    let before = departure.in_flight.saturating_sub(1);
    let lost_before = (facts.lost - departure.lost).saturating_sub(1);
    let budget = (u64::from(before) * u64::from(MOST_LOSS)).div_ceil(u64::from(ONE)) as u32;
    let prefix = budget.saturating_sub(lost_before);
    before + (u64::from(prefix) * u64::from(ONE) / u64::from(ONE - MOST_LOSS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fractions are rounded down to 256ths, and results to whole segments. Of 100 segments, 2 % (5/256) are
    /// 1 segment, so the second loss is too much; 15 % (38/256) are 14 segments, and 30 % (76/256) are 29
    /// segments.
    #[test]
    fn fractions_are_in_256ths() {
        assert!(!loses_too_many(1, 100) && loses_too_many(2, 100));
        let mut bounds = Bounds { high_flight: 100, ..Bounds::default() };
        assert_eq!(bounds.with_headroom(), 86);
        bounds.cut_high_flight(10, 100);
        assert_eq!(bounds.high_flight, 70);
    }

    /// A round with losses reduces the bounds to 0.7, but not below the data delivered in it. The next round
    /// reduces them to 0.7 of the new bounds.
    #[test]
    fn losses_lower_the_bounds_once_a_round() {
        let mut bounds = Bounds { latest_rate: 40, latest_flight: 60, ..Bounds::default() };
        bounds.lower(1000, 200, true, None);
        assert_eq!((bounds.low_rate, bounds.low_flight), (703, 140));
        bounds.lower(1000, 200, true, None);
        assert_eq!((bounds.low_rate, bounds.low_flight), (494, 98));
        bounds.lower(1000, 200, true, None);
        assert_eq!((bounds.low_rate, bounds.low_flight), (347, 68));
        bounds.lower(1000, 200, true, None);
        assert_eq!((bounds.low_rate, bounds.low_flight), (243, 60), "the delivered rate is safe");
    }
}
