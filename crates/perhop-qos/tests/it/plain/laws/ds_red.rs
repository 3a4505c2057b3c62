//! The algorithm of `diffserv/dsredq.cc` of ns-2.

use perhop_qos::random::Stream;

use super::{Curve, Fate, Implementation, falls_below, near};

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
    /// Decays average `index` over its idle time and takes a sample. Returns `None` if the idle time is close
    /// to a whole number of packets.
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
            // The idle times of the other precedences are not used.
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
