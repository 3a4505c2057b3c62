//! [`Turns`]: the service of deficit round robin and weighted round robin, as a staircase of turns.

use crate::arrival::Arrival;
use crate::service::Service;

/// Service in turns. A class needs `⌈amount / grant⌉` turns to send `amount`. Before each of these turns,
/// every other class has one turn.
///
/// The staircase is the one of Boyer, Stea and Sofack ("Deficit round robin with network calculus",
/// VALUETOOLS 2012) and of Tabatabaee and Le Boudec (RTAS 2021), applied to packets. The straight line below
/// the staircase has the latency (3F − 2φ) / C of Stiliadis and Varma 1998.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    /// The service that is shared in turns.
    pub service: Service,
    /// The units of this service that one unit of the class uses.
    pub factor: f64,
    /// The amount that the class may send in one turn.
    pub grant: f64,
    /// The amount that the other classes together send between two turns of the class.
    pub others: f64,
    /// The amount that is sent only once: the saved deficits of the other classes, and the packet on the
    /// wire.
    pub fixed: f64,
    /// The granularity of the class. The amount of each of its packets is a multiple of the grain.
    pub grain: f64,
}

/// The number of turns above which the straight line is used instead of the staircase.
const MOST_TURNS: f64 = 100_000.0;

impl Turns {
    /// Returns the straight line below the staircase.
    pub fn line(&self) -> Service {
        // ⌈x / grant⌉ ≤ (x + grant − step) / grant, where x and grant are multiples of the step.
        let is_whole = self.grant.fract() == 0.0 && self.grain.fract() == 0.0;
        let step = if is_whole { common_divisor(self.grant, self.grain) } else { 0.0 };
        let (per_unit, saved) = (self.others / self.grant, self.others * (self.grant - step) / self.grant);
        self.service.shared(self.factor + per_unit, self.fixed + saved)
    }
    /// Returns the longest time until `amount` has been sent, seconds.
    pub fn time(&self, amount: f64) -> f64 {
        // Amounts are multiples of the grain. A rounding error must not add a turn.
        let turns = (amount / self.grant - 1e-9).ceil().max(1.0);
        self.service.time(amount * self.factor + turns * self.others + self.fixed)
    }
    /// Returns the largest delay from arrival to departure, seconds; `None` if it is unbounded or requires
    /// the computation of too many turns.
    pub fn delay(&self, arrival: &Arrival) -> Option<f64> {
        let (least, most) = (self.whole_grains(arrival.burst()), self.busy_amount(arrival)?);
        if (most - least) / self.grant > MOST_TURNS {
            return None;
        }
        let at = |amount: f64| self.time(amount) - arrival.time_until(amount);
        let mut greatest = at(least).max(0.0);
        for corner in arrival.corners().filter(|corner| corner.is_finite()) {
            greatest = greatest.max(at(self.whole_grains(arrival.at(corner))));
        }
        // Between two steps, the delay is a linear function of the amount, so the maximum is at the end of a
        // step.
        let mut turn = (least / self.grant).floor();
        while turn * self.grant <= most {
            let end = self.whole_grains(turn * self.grant);
            for amount in [end, end + self.grain] {
                if amount >= least {
                    greatest = greatest.max(at(amount));
                }
            }
            turn += 1.0;
        }
        Some(greatest)
    }

    /// Rounds `amount` down to a multiple of the grain, to one grain at least.
    fn whole_grains(&self, amount: f64) -> f64 {
        ((amount / self.grain + 1e-9).floor() * self.grain).max(self.grain)
    }
    /// Returns the largest amount that arrives in one busy period of the class.
    fn busy_amount(&self, arrival: &Arrival) -> Option<f64> {
        let line = self.line();
        let ends = |line: &crate::service::RateLatency| {
            let fast_enough = arrival.buckets().iter().filter(|bucket| bucket.rate < line.rate);
            let end = |bucket: &crate::arrival::Bucket| {
                (bucket.burst + line.rate * line.latency) / (line.rate - bucket.rate)
            };
            fast_enough.map(end).fold(f64::INFINITY, f64::min)
        };
        let end = line.lines().iter().map(ends).fold(f64::INFINITY, f64::min);
        end.is_finite().then(|| arrival.at(end))
    }
}

fn common_divisor(mut first: f64, mut second: f64) -> f64 {
    while second > 0.0 {
        (first, second) = (second, first % second);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes have quanta of 1500 bytes on a wire of 1 MB/s. Their packets have 1000 and 1500 bytes.
    /// Before the first turn of the class with packets of 1000 bytes, the other class may send 1499 saved
    /// bytes and one quantum. Before each later turn, it may send one quantum. One packet of the first class
    /// may be on the wire.
    fn turns() -> Turns {
        let service = Service::rate_latency(1e6, 0.0);
        Turns { service, factor: 1.0, grant: 1500.0, others: 1500.0, fixed: 1499.0 + 1000.0, grain: 1000.0 }
    }

    #[test]
    fn the_staircase_by_hand() {
        let turns = turns();
        assert_eq!(turns.time(1000.0), 4999e-6);
        // Two packets of 1000 bytes need a second turn. The third packet fits into this turn.
        assert_eq!(turns.time(2000.0), 7499e-6);
        assert_eq!(turns.time(3000.0), 8499e-6);
        // For the straight line, each unit counts as 2 units, and 2499 + 1500 · (1500 − 500) / 1500 units are
        // added.
        assert!((turns.line().lines()[0].latency - 3499e-6).abs() < 1e-12);
        assert_eq!(turns.line().rate(), 5e5);
    }

    #[test]
    fn the_delay_of_a_burst_and_of_a_flow() {
        let turns = turns();
        // At a low rate, the initial burst of three packets determines the delay.
        assert_eq!(turns.delay(&Arrival::token_bucket(3000.0, 1.0)), Some(8499e-6));
        // One packet arrives at once, and then one packet every 3 ms. The second packet needs a second turn.
        // Its delay is still smaller than the delay of the first, because it arrives 3 ms later: 7499 − 3000
        // < 4999.
        let slow = turns.delay(&Arrival::token_bucket(1000.0, 1000.0 / 3e-3)).unwrap();
        assert!((slow - 4999e-6).abs() < 1e-12, "{slow}");
        // One packet arrives every 2.1 ms. The delay of the second packet is 7499 − 2100 = 5399 > 4999, that
        // of the third is 8499 − 4200, and that of the fourth is 11999 − 6300 = 5699.
        let fast = turns.delay(&Arrival::token_bucket(1000.0, 1000.0 / 2.1e-3)).unwrap();
        let by_hand =
            (1..200).map(|packets| turns.time(1000.0 * f64::from(packets)) - 2.1e-3 * f64::from(packets - 1));
        assert!((fast - by_hand.fold(0.0, f64::max)).abs() < 1e-9, "{fast}");
        // The arrivals exceed the share of the class, half of the wire. The delay is therefore unbounded.
        assert_eq!(turns.delay(&Arrival::token_bucket(1000.0, 5.1e5)), None);
    }
}
