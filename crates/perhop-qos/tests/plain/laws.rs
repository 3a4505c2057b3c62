//! The implementations behind `law`, each with a queue and numbers of its own, in the arithmetic of its
//! source: floating point in ns-2 (single precision in dsRED), whole numbers in Linux.

use perhop_qos::random::Stream;

/// What becomes of a packet; `None` where it hangs on the last digits, after which two implementations may
/// no longer be compared.
pub(crate) type Fate = Option<bool>;

/// An implementation of RED as its surroundings see it. Time is in seconds.
pub(crate) trait Implementation {
    /// Whether a packet of `length` bytes and precedence `index` joins.
    fn enque(&mut self, now: f64, index: usize, length: u32) -> Fate;
    /// The link, which is free, asks for the next packet; `index` and `length` are those of the head, if any.
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>);
    /// Its averages, in packets or bytes.
    fn averages(&self) -> Vec<f64>;
    /// Differences between averages that are taken for none.
    fn tolerance(&self) -> f64;
}

/// Thresholds and probability of a precedence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) max_p: f64,
}

/// A number below a chance, which the other side compares with as many digits as it has.
fn falls_below(chance: f64, random: &mut Stream) -> Fate {
    if chance <= 0.0 || chance >= 1.0 {
        return Some(chance >= 1.0);
    }
    let number = random.bits() as f64 / 2f64.powi(64);
    ((number - chance).abs() > 1e-4 * chance.max(1e-3)).then_some(number < chance)
}

/// Whether one number is too near another to tell them apart with other digits.
fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-4 * other.abs().max(1e-3)
}

/// ns-2.35 `queue/red.cc` (v 1.90): `enque`, `deque`, `estimator`, `calculate_p_new`, `modify_p`,
/// `drop_early`; before May 1999 with `ns1_compat_`, and without `gentle_` and `use_mark_p_`.
pub(crate) struct NsRed {
    pub(crate) curve: Curve,
    pub(crate) weight: f64,
    pub(crate) gentle: bool,
    pub(crate) wait: bool,
    /// `bytes_`: bytes over the mean size count.
    pub(crate) bytes: bool,
    /// `queue_in_bytes_`.
    pub(crate) queue_in_bytes: bool,
    pub(crate) use_mark_p: bool,
    pub(crate) ns1_compat: bool,
    pub(crate) mean: u32,
    /// Packets, or bytes where the queue is in bytes.
    pub(crate) limit: u64,
    /// Packets of mean size a second.
    pub(crate) ptc: f64,
    pub(crate) random: Stream,
    pub(crate) state: NsState,
}

pub(crate) struct NsState {
    average: f64,
    count: u64,
    count_bytes: u64,
    old: bool,
    idle: Option<f64>,
    packets: u64,
    queued_bytes: u64,
}

impl Default for NsState {
    fn default() -> NsState {
        NsState {
            average: 0.0,
            count: 0,
            count_bytes: 0,
            old: false,
            idle: Some(0.0),
            packets: 0,
            queued_bytes: 0,
        }
    }
}

impl NsRed {
    fn held(&self) -> u64 {
        if self.queue_in_bytes { self.state.queued_bytes } else { self.state.packets }
    }
    /// `calculate_p_new`.
    fn probability(&self, average: f64) -> f64 {
        let Curve { min, max, max_p } = self.curve;
        let p = if average < max {
            max_p * (average - min) / (max - min)
        } else if self.gentle {
            (1.0 - max_p) / max * average + 2.0 * max_p - 1.0
        } else {
            1.0
        };
        p.min(1.0)
    }
    /// `modify_p`; `None` near the point where its formula changes.
    fn modified(&self, p: f64, length: u32) -> Option<f64> {
        let count = if self.bytes {
            (self.state.count_bytes / u64::from(self.mean)) as f64
        } else {
            self.state.count as f64
        };
        let expected = count * p;
        if near(expected, 1.0) || near(expected, 2.0) {
            return None;
        }
        let spaced = match (self.wait, expected) {
            (true, 2.0..) | (false, 1.0..) => 1.0,
            (true, 1.0..) => p / (2.0 - expected),
            (true, _) => 0.0,
            (false, _) => p / (1.0 - expected),
        };
        if near(spaced, 1.0) && spaced != 1.0 {
            return None;
        }
        let by_length = f64::from(length) / f64::from(self.mean);
        Some(if self.bytes && spaced < 1.0 { spaced * by_length } else { spaced })
    }
}

impl Implementation for NsRed {
    fn enque(&mut self, now: f64, _: usize, length: u32) -> Fate {
        let held = self.held();
        let idled = self.state.idle.take().map_or(0.0, |since| self.ptc * (now - since));
        if idled > 0.5 && (idled - idled.round()).abs() < 1e-6 {
            return None;
        }
        self.state.average *= (1.0 - self.weight).powf(idled.floor() + 1.0);
        self.state.average += self.weight * held as f64;
        self.state.count += 1;
        self.state.count_bytes += u64::from(length);
        let average = self.state.average;
        let forced_from = if self.gentle { 2.0 * self.curve.max } else { self.curve.max };
        if near(average, self.curve.min) || near(average, self.curve.max) || near(average, forced_from) {
            return None;
        }
        let (mut forced, mut drawn) = (false, false);
        if average >= self.curve.min && held > 1 {
            if !self.use_mark_p && average >= forced_from {
                forced = true;
            } else if !self.state.old {
                (self.state.count, self.state.count_bytes, self.state.old) = (1, u64::from(length), true);
            } else {
                let chance = self.modified(self.probability(average), length)?;
                drawn = falls_below(chance, &mut self.random)?;
                if drawn {
                    (self.state.count, self.state.count_bytes) = (0, 0);
                }
            }
        } else {
            self.state.old = false;
        }
        forced |= held >= self.limit;
        if forced && !self.ns1_compat {
            (self.state.count, self.state.count_bytes) = (0, 0);
        }
        if forced || drawn {
            return Some(false);
        }
        self.state.packets += 1;
        self.state.queued_bytes += u64::from(length);
        Some(true)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        if let Some((_, length)) = head {
            self.state.packets -= 1;
            self.state.queued_bytes -= u64::from(length);
            self.state.idle = None;
        } else {
            self.state.idle = Some(now);
        }
    }
    fn averages(&self) -> Vec<f64> {
        vec![self.state.average]
    }
    fn tolerance(&self) -> f64 {
        1e-6
    }
}

/// ns-2.35 `queue/rio.cc` (v 1.14), `enque` and `deque`: in packets (precedence 0) and out packets. Built of
/// two [`NsRed`]: `inside` looks at in packets, `all` at all of them, and tests out packets.
pub(crate) struct NsRio {
    pub(crate) inside: NsRed,
    pub(crate) all: NsRed,
    /// `idle_` and `in_idle_`; both have one `idletime_`.
    pub(crate) idle: [bool; 2],
    pub(crate) idle_time: f64,
}

impl NsRio {
    /// The drop logic for a packet that `red` has counted: whether it is forced out, whether it is drawn.
    fn judge(red: &mut NsRed, length: u32, random: &mut Stream) -> Option<(bool, bool)> {
        let average = red.state.average;
        let forced_from = if red.gentle { 2.0 * red.curve.max } else { red.curve.max };
        if near(average, red.curve.min) || near(average, red.curve.max) || near(average, forced_from) {
            return None;
        }
        if average < red.curve.min || red.held() <= 1 {
            red.state.old = false;
            return Some((false, false));
        }
        if average >= forced_from {
            return Some((true, false));
        }
        if !red.state.old {
            (red.state.count, red.state.count_bytes, red.state.old) = (1, u64::from(length), true);
            return Some((false, false));
        }
        let drawn = falls_below(red.modified(red.probability(average), length)?, random)?;
        if drawn {
            (red.state.count, red.state.count_bytes) = (0, 0);
        }
        Some((false, drawn))
    }
    /// Those that count a packet of precedence `index`.
    fn counting(&mut self, index: usize) -> impl Iterator<Item = &mut NsRed> {
        [&mut self.all, &mut self.inside].into_iter().take(2 - index)
    }
}

impl Implementation for NsRio {
    fn enque(&mut self, now: f64, index: usize, length: u32) -> Fate {
        if index == 0 {
            for (idle, red) in self.idle.iter_mut().zip([&mut self.all, &mut self.inside]) {
                let idled = if *idle { red.ptc * (now - self.idle_time) } else { 0.0 };
                if idled > 0.5 && (idled - idled.round()).abs() < 1e-6 {
                    return None;
                }
                *idle = false;
                red.state.average *= (1.0 - red.weight).powf(idled.floor() + 1.0);
                red.state.average += red.weight * red.held() as f64;
            }
        }
        let full = self.all.held() >= self.all.limit;
        // One generator for both.
        let mut random = self.all.random.clone();
        let red = if index == 0 { &mut self.inside } else { &mut self.all };
        red.state.count += 1;
        red.state.count_bytes += u64::from(length);
        let judged = NsRio::judge(red, length, &mut random);
        self.all.random = random;
        let (forced, drawn) = judged?;
        if (forced || full) && !drawn && index == 0 {
            (self.inside.state.count, self.inside.state.count_bytes) = (0, 0);
        }
        if forced || full || drawn {
            return Some(false);
        }
        for red in self.counting(index) {
            red.state.packets += 1;
            red.state.queued_bytes += u64::from(length);
        }
        Some(true)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        let Some((index, length)) = head else {
            (self.idle, self.idle_time) = ([true; 2], now);
            return;
        };
        self.idle[0] = false;
        if index == 0 {
            self.idle[1] = false;
        }
        for red in self.counting(index) {
            red.state.packets -= 1;
            red.state.queued_bytes -= u64::from(length);
        }
    }
    fn averages(&self) -> Vec<f64> {
        vec![self.inside.state.average, self.all.state.average]
    }
    fn tolerance(&self) -> f64 {
        1e-6
    }
}

/// The modes of dsRED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    RioC,
    RioD,
    Wred,
}

/// ns-2.35 `diffserv/dsredq.cc` (2002): `enque`, `calcAvg`, `updateREDStateVar`, `updateIdleFlag`.
pub(crate) struct DsRed {
    pub(crate) mode: Mode,
    pub(crate) curves: Vec<Curve>,
    pub(crate) weight: f64,
    pub(crate) limit: u64,
    pub(crate) ptc: f64,
    pub(crate) random: Stream,
    virtual_queues: Vec<VirtualQueue>,
}

#[derive(Clone, Copy)]
struct VirtualQueue {
    average: f32,
    count: i64,
    packets: u64,
    idle: bool,
    idle_time: f64,
}

impl DsRed {
    pub(crate) fn new(
        mode: Mode,
        curves: Vec<Curve>,
        weight: f64,
        limit: u64,
        ptc: f64,
        random: Stream,
    ) -> DsRed {
        let empty = VirtualQueue { average: 0.0, count: 0, packets: 0, idle: true, idle_time: 0.0 };
        let virtual_queues = vec![empty; curves.len()];
        DsRed { mode, curves, weight, limit, ptc, random, virtual_queues }
    }
    fn physical(&self) -> u64 {
        self.virtual_queues.iter().map(|queue| queue.packets).sum()
    }
    /// Average `index` decays for idle time and takes a sample; `None` where the idle time is near a whole
    /// number of packets.
    fn average(&mut self, index: usize, now: f64) -> Option<()> {
        let held: u64 = match self.mode {
            Mode::RioC => self.virtual_queues[..=index].iter().map(|queue| queue.packets).sum(),
            Mode::RioD => self.virtual_queues[index].packets,
            Mode::Wred => self.physical(),
        };
        let queue = self.virtual_queues[index];
        let idled = if queue.idle { self.ptc * (now - queue.idle_time) } else { 0.0 };
        if idled > 0.5 && (idled - idled.round()).abs() < 1e-6 {
            return None;
        }
        let mut average = queue.average;
        for _ in 0..=(idled as u64).min(100_000) {
            average = (f64::from(average) * (1.0 - self.weight)) as f32;
        }
        average = (f64::from(average) + self.weight * held as f64) as f32;
        match self.mode {
            Mode::Wred => self.virtual_queues.iter_mut().for_each(|queue| queue.average = average),
            _ => self.virtual_queues[index].average = average,
        }
        Some(())
    }
}

impl Implementation for DsRed {
    fn enque(&mut self, now: f64, index: usize, _: u32) -> Fate {
        if self.physical() + 1 > self.limit {
            return Some(false);
        }
        let moved = match self.mode {
            Mode::RioC => index..self.virtual_queues.len(),
            Mode::RioD => index..index + 1,
            Mode::Wred => 0..1,
        };
        for moved in moved.clone() {
            self.average(moved, now)?;
        }
        let Curve { min, max, max_p } = self.curves[index];
        let queue = &mut self.virtual_queues[index];
        let average = f64::from(queue.average);
        if near(average, min) || near(average, max) {
            return None;
        }
        if average > max {
            queue.count = 0;
            return Some(false);
        }
        if average > min {
            queue.count += 1;
            let pb = max_p * (average - min) / (max - min);
            let denominator = 1.0 - queue.count as f64 * pb;
            if denominator.abs() < 1e-4 || near(pb, denominator) {
                return None;
            }
            if falls_below(pb / denominator, &mut self.random)? {
                queue.count = 0;
                return Some(false);
            }
        } else {
            queue.count = -1;
        }
        queue.packets += 1;
        for moved in moved {
            self.virtual_queues[moved].idle = false;
        }
        Some(true)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        let Some((index, _)) = head else { return };
        let queues = &mut self.virtual_queues;
        queues[index].packets -= 1;
        if queues[index].packets > 0 {
            return;
        }
        let start = |queue: &mut VirtualQueue| (queue.idle, queue.idle_time) = (true, now);
        match self.mode {
            Mode::RioC if queues[..index].iter().any(|queue| queue.packets > 0) => {}
            Mode::RioC => {
                let empty = |queue: &&mut VirtualQueue| queue.packets == 0;
                queues[index..].iter_mut().take_while(empty).for_each(start);
            }
            Mode::RioD => start(&mut queues[index]),
            // Whatever the other precedences hold.
            Mode::Wred => start(&mut queues[0]),
        }
    }
    fn averages(&self) -> Vec<f64> {
        let count = if self.mode == Mode::Wred { 1 } else { self.virtual_queues.len() };
        self.virtual_queues[..count].iter().map(|queue| f64::from(queue.average)).collect()
    }
    fn tolerance(&self) -> f64 {
        1e-3
    }
}

/// The queues of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Qdisc {
    /// `sch_red.c`, a device's own.
    Red,
    /// `sch_gred.c` with `grio` and different `prio`.
    Grio,
    /// `sch_gred.c` with `grio` and one `prio`.
    GredWred,
    /// `sch_gred.c` without `grio`.
    Gred,
}

/// Linux 6.1 `include/net/red.h`, `net/sched/sch_red.c` and `sch_gred.c`, with what iproute2 6.1 `tc_red.c`
/// makes of `bandwidth`, `avpkt` and `probability`. `dps` are the virtual queues.
pub(crate) struct Linux {
    pub(crate) qdisc: Qdisc,
    pub(crate) wlog: u32,
    pub(crate) limit: u64,
    pub(crate) random: Stream,
    /// `Stab` and `Scell_log`.
    stab: Vec<u8>,
    cell_log: u32,
    dps: Vec<VirtualRed>,
    /// Of all together, where there is one average.
    shared: RedVars,
}

struct VirtualRed {
    min: u64,
    max: u64,
    /// `max_P` over the width, in 2⁻³².
    max_p_delta: u64,
    /// `qcount` and `qR`.
    count: i64,
    number: u64,
    vars: RedVars,
    backlog: u64,
}

/// `qavg` and `qidlestart` (microseconds; nothing while not idling).
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
        // tc_calc_xmittime in ticks of 64 ns; then natural logarithms per tick.
        let ticks = (((1e6 * avpkt as f64 / bytes_per_second as f64) as u64 as f64) * 15.625) as u64 as f64;
        let per_tick = -(1.0 - 0.5_f64.powi(wlog as i32)).ln() / ticks;
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
    /// `red_calc_qavg`.
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
    /// `red_action`: whether the packet goes on.
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
        // Its last digit is that of another division.
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

/// Microseconds, rounded down: `ktime_us_delta` of times in whole microseconds.
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

/// Floyd & Jacobson 1993, Figure 2, with the count of section 7: `q_time` is set when the queue becomes empty
/// and nowhere else.
pub(crate) struct Floyd {
    pub(crate) curve: Curve,
    pub(crate) weight: f64,
    pub(crate) limit: u64,
    /// Seconds that a typical packet takes.
    pub(crate) s: f64,
    pub(crate) random: Stream,
    pub(crate) average: f64,
    pub(crate) count: i64,
    pub(crate) q_time: f64,
    pub(crate) packets: u64,
}

impl Implementation for Floyd {
    fn enque(&mut self, now: f64, _: usize, _: u32) -> Fate {
        if self.packets > 0 {
            self.average += self.weight * (self.packets as f64 - self.average);
        } else {
            self.average *= (1.0 - self.weight).powf((now - self.q_time) / self.s);
        }
        let Curve { min, max, max_p } = self.curve;
        if near(self.average, min) || near(self.average, max) {
            return None;
        }
        if self.average >= max {
            self.count = 0;
            return Some(false);
        }
        if self.average >= min {
            let pb = max_p * (self.average - min) / (max - min);
            let denominator = 1.0 - self.count as f64 * pb;
            if near(pb, denominator) {
                return None;
            }
            let chance = if pb >= denominator { 1.0 } else { pb / denominator };
            if falls_below(chance, &mut self.random)? {
                self.count = 0;
                return Some(false);
            }
            self.count += 1;
        } else {
            self.count = 0;
        }
        let fits = self.packets < self.limit;
        self.packets += u64::from(fits);
        Some(fits)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        if head.is_some() {
            self.packets -= 1;
            if self.packets == 0 {
                self.q_time = now;
            }
        }
    }
    fn averages(&self) -> Vec<f64> {
        vec![self.average]
    }
    fn tolerance(&self) -> f64 {
        1e-6
    }
}
