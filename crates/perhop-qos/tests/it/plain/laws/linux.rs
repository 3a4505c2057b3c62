//! RED and GRED of Linux.

use perhop_qos::random::Stream;

use super::{Curve, Fate, Implementation};

/// The queueing disciplines of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Qdisc {
    /// `sch_red.c`, with one average for all packets.
    Red,
    /// `sch_gred.c` with `grio` and different `prio`.
    Grio,
    /// `sch_gred.c` with `grio` and one `prio`.
    GredWred,
    /// `sch_gred.c` without `grio`.
    Gred,
}

/// Linux 6.1 `include/net/red.h`, `net/sched/sch_red.c` and `sch_gred.c`, with the conversions of
/// `bandwidth`, `avpkt` and `probability` in iproute2 6.1 `tc_red.c`. `dps` are the virtual queues.
pub(crate) struct Linux {
    pub(crate) qdisc: Qdisc,
    pub(crate) wlog: u32,
    pub(crate) limit: u64,
    pub(crate) random: Stream,
    /// The tables `Stab` and `Scell_log` of Linux.
    stab: Vec<u8>,
    cell_log: u32,
    dps: Vec<VirtualRed>,
    /// The average of all queues together, for the modes that have a single average.
    shared: RedVars,
}

struct VirtualRed {
    min: u64,
    max: u64,
    /// `max_P` divided by the width, in units of 2⁻³².
    max_p_delta: u64,
    /// `qcount` and `qR` of Linux.
    count: i64,
    number: u64,
    vars: RedVars,
    backlog: u64,
}

/// `qavg` and `qidlestart` (microseconds, or `None` while the queue is not idle).
#[derive(Clone, Copy, Default)]
struct RedVars {
    average: u64,
    idle_start: Option<u64>,
}

impl Linux {
    pub(crate) fn new(
        qdisc: Qdisc,
        curves: &[Curve],
        (wlog, limit): (u32, u64),
        (avpkt, bytes_per_second): (u64, u64),
        random: Stream,
    ) -> Linux {
        // Computes `tc_calc_xmittime` in ticks of 64 ns, and then the natural logarithm per tick.
        let ticks = (((1e6 * avpkt as f64 / bytes_per_second as f64) as u64 as f64) * 15.625) as u64 as f64;
        let per_tick = -(1.0 - 1.0 / (1_u64 << wlog) as f64).ln() / ticks;
        let mut cell_log = 0;
        while 31.0 / per_tick / f64::from(1_u32 << cell_log) >= 512.0 {
            cell_log += 1;
        }
        let entry = |cell: u64| (((cell << cell_log) as f64 * per_tick) as u64).min(31) as u8;
        let stab = (0..255).map(entry).chain([31]).collect();
        let virtual_red = |curve: &Curve| VirtualRed {
            min: (curve.min as u64) << wlog,
            max: (curve.max as u64) << wlog,
            max_p_delta: ((curve.max_p * 2f64.powi(32)) as u64 / (curve.max - curve.min) as u64).max(1),
            count: -1,
            number: 0,
            vars: RedVars::default(),
            backlog: 0,
        };
        let mut shared = RedVars::default();
        if qdisc == Qdisc::Red {
            shared.idle_start = Some(0);
        }
        let dps = curves.iter().map(virtual_red).collect();
        Linux { qdisc, wlog, limit, random, stab, cell_log, dps, shared }
    }
    /// The next average (`red_calc_qavg` of Linux).
    fn moved(&self, vars: RedVars, backlog: u64, now: u64) -> u64 {
        let Some(start) = vars.idle_start else {
            return vars.average - (vars.average >> self.wlog) + backlog;
        };
        let idle = (now - start).min(255 << self.cell_log);
        let shift = self.stab[(idle >> self.cell_log) as usize & 255];
        if shift > 0 {
            return vars.average >> shift;
        }
        let less = (vars.average * idle) >> self.cell_log;
        if less < vars.average >> 1 { vars.average - less } else { vars.average >> 1 }
    }
    /// `red_action`: whether the packet passes.
    fn passes(&mut self, index: usize, average: u64) -> Fate {
        let (dp, wlog) = (&mut self.dps[index], self.wlog);
        let mut draw = || (self.random.bits() >> 32) / dp.max_p_delta;
        if average < dp.min || average >= dp.max {
            dp.count = -1;
            return Some(average < dp.min);
        }
        dp.count += 1;
        if dp.count == 0 {
            dp.number = draw();
            return Some(true);
        }
        let reached = ((average - dp.min) >> wlog) * dp.count as u64;
        // The last digit can differ, because it results from another division.
        if reached.abs_diff(dp.number) <= 1 {
            return None;
        }
        if reached < dp.number {
            return Some(true);
        }
        (dp.count, dp.number) = (0, draw());
        Some(false)
    }
    fn is_shared(&self) -> bool {
        matches!(self.qdisc, Qdisc::Red | Qdisc::GredWred)
    }
}

/// Returns `now` (seconds) in microseconds. If the time is a whole number of microseconds, the result equals
/// that of `ktime_us_delta`, which rounds down.
fn microseconds(now: f64) -> u64 {
    (now * 1e6).round() as u64
}

impl Implementation for Linux {
    fn enque(&mut self, now: f64, index: usize, length: u32) -> Fate {
        let now = microseconds(now);
        let total: u64 = self.dps.iter().map(|dp| dp.backlog).sum();
        let backlog = if self.is_shared() { total } else { self.dps[index].backlog };
        let lower: u64 = match self.qdisc {
            Qdisc::Grio => {
                let busy = self.dps[..index].iter().filter(|dp| dp.vars.idle_start.is_none());
                busy.map(|dp| dp.vars.average).sum()
            }
            _ => 0,
        };
        let vars = if self.is_shared() { self.shared } else { self.dps[index].vars };
        let vars = RedVars { average: self.moved(vars, backlog, now), idle_start: None };
        if self.is_shared() {
            self.shared = vars;
        } else {
            self.dps[index].vars = vars;
        }
        let joins = self.passes(index, vars.average + lower)? && backlog + u64::from(length) <= self.limit;
        if joins {
            self.dps[index].backlog += u64::from(length);
        }
        Some(joins)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        let now = Some(microseconds(now));
        let Some((index, length)) = head else {
            if self.qdisc == Qdisc::Red && self.shared.idle_start.is_none() {
                self.shared.idle_start = now;
            }
            return;
        };
        self.dps[index].backlog -= u64::from(length);
        match self.qdisc {
            Qdisc::Red => {}
            Qdisc::GredWred if self.dps.iter().any(|dp| dp.backlog > 0) => {}
            Qdisc::GredWred => self.shared.idle_start = now,
            Qdisc::Grio | Qdisc::Gred if self.dps[index].backlog > 0 => {}
            Qdisc::Grio | Qdisc::Gred => self.dps[index].vars.idle_start = now,
        }
    }
    fn averages(&self) -> Vec<f64> {
        let value = |vars: RedVars| (vars.average >> self.wlog) as f64;
        if self.is_shared() {
            vec![value(self.shared)]
        } else {
            self.dps.iter().map(|dp| value(dp.vars)).collect()
        }
    }
    fn tolerance(&self) -> f64 {
        0.0
    }
}
