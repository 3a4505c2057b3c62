//! `DualPI2` of RFC 9332: the pseudocode of its appendix A, including the handling of overload.

use super::config::{NativeMarking, Settled};
use crate::{DropCause, Time, Verdict};

/// The state and the parameters. Delays are in seconds, and gains are per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RfcDualPi2 {
    target: f64,
    alpha: f64,
    beta: f64,
    coupling: f64,
    native: NativeMarking,
    /// The base probability (`p'` of the RFC).
    base: f64,
    /// The delay at the last update, `prevq`.
    previous: f64,
    /// The accumulated likelihood (`recur`) of drops and marks of classic packets.
    classic: f64,
    /// The accumulated likelihood of marks of low-latency packets.
    marks: f64,
    /// The accumulated likelihood of drops of low-latency packets.
    drops: f64,
}

/// Appendix A.1, `recur`: returns true for the fraction `likelihood` of its calls, at even intervals.
fn recurs(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    let is_due = *count > 1.0;
    if is_due {
        *count -= 1.0;
    }
    is_due
}

impl RfcDualPi2 {
    pub(super) fn new(settled: &Settled) -> RfcDualPi2 {
        RfcDualPi2 {
            target: settled.target.as_seconds(),
            alpha: settled.alpha,
            beta: settled.beta,
            coupling: settled.coupling.into(),
            native: settled.native,
            base: 0.0,
            previous: 0.0,
            classic: 0.0,
            marks: 0.0,
            drops: 0.0,
        }
    }

    pub(super) fn base(&self) -> f64 {
        self.base
    }

    /// Updates the base probability (`dualpi2_update`). `classic` and `low_latency` are the waits of the
    /// heads of the two queues, or `None` for an empty queue.
    pub(super) fn update(&mut self, classic: Option<Time>, low_latency: Option<Time>) {
        // The current delay is the wait of the head of the classic queue. If the classic queue is empty, it
        // is the wait of the other head.
        let current = classic.or(low_latency).map_or(0.0, Time::as_seconds);
        let step = self.alpha * (current - self.target) + self.beta * (current - self.previous);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.previous = current;
    }

    /// Decides about a classic packet, ECN-capable or not, at the head of its queue.
    pub(super) fn classic(&mut self, is_capable: bool) -> Verdict {
        let probability = self.base * self.base;
        if !recurs(&mut self.classic, probability) {
            return Verdict::Pass;
        }
        // Appendix A: `p_Cmax = min(1/k^2, 1)`. From this probability on, the queue is overloaded and drops
        // packets instead of marking them.
        let most = (1.0 / (self.coupling * self.coupling)).min(1.0);
        if is_capable && probability < most { Verdict::MarkCe } else { Verdict::Drop(DropCause::EarlyRandom) }
    }

    /// Decides about a packet of the low-latency queue that has waited `waited`. `leaves_others` is whether
    /// other packets remain in the queue.
    pub(super) fn low_latency(&mut self, waited: Time, leaves_others: bool) -> Verdict {
        let coupled = self.coupling * self.base;
        if coupled >= 1.0 {
            // Under saturation, the low-latency queue drops packets with the probability of the classic queue
            // and marks all others.
            if recurs(&mut self.drops, self.base * self.base) {
                return Verdict::Drop(DropCause::EarlyRandom);
            }
            return Verdict::MarkCe;
        }
        // `Th_len`: a packet that leaves an empty queue behind is not marked because of its wait.
        let native = if leaves_others { self.native(waited) } else { 0.0 };
        if recurs(&mut self.marks, native.max(coupled)) { Verdict::MarkCe } else { Verdict::Pass }
    }

    /// Returns the probability of a mark that depends only on the packet's own wait (`laqm`).
    fn native(&self, waited: Time) -> f64 {
        match self.native {
            NativeMarking::Step(threshold) => f64::from(u8::from(waited > threshold)),
            NativeMarking::Ramp(ramp) => {
                (waited.saturating_sub(ramp.from).as_seconds() / ramp.width.as_seconds()).min(1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::DualPi2Config;
    use super::*;
    use crate::Rate;

    /// Counts the verdicts on a thousand classic and a thousand low-latency packets at a base probability:
    /// classic marked, classic dropped, low-latency marked, low-latency dropped.
    fn counts(base: f64) -> [usize; 4] {
        let settled = DualPi2Config::default().settle(Rate::from_bits_per_second(10_000_000)).unwrap();
        let mut control = RfcDualPi2 { base, ..RfcDualPi2::new(&settled) };
        let classic: Vec<Verdict> = (0..1000).map(|_| control.classic(true)).collect();
        let others: Vec<Verdict> = (0..1000).map(|_| control.low_latency(Time::ZERO, true)).collect();
        let count =
            |verdicts: &[Verdict], is: fn(&Verdict) -> bool| verdicts.iter().filter(|v| is(v)).count();
        let (marked, dropped) =
            (|v: &Verdict| *v == Verdict::MarkCe, |v: &Verdict| matches!(v, Verdict::Drop(_)));
        [count(&classic, marked), count(&classic, dropped), count(&others, marked), count(&others, dropped)]
    }

    /// RFC 9332 §2.1: `p_C = p'^2`, `p_CL = k p'`. Each count can be lower by one, because the sum must
    /// exceed 1.
    #[test]
    fn probabilities_are_coupled() {
        // At a base probability above 1/k, classic packets are dropped even if they are ECN-capable, and
        // low-latency packets are dropped, too.
        for (base, expected) in [(0.0, [0, 0, 0, 0]), (0.2, [40, 0, 400, 0]), (0.6, [0, 360, 640, 360])] {
            let found = counts(base);
            let differ = found.iter().zip(expected).any(|(found, expected)| found.abs_diff(expected) > 1);
            assert!(!differ, "p' {base}: {found:?}, expected {expected:?}");
        }
    }
}
