//! A second implementation of `CoDel`, which is called through `dequeue`. It follows the pseudocode of RFC
//! 8289 §5.5 and §5.6, or `codel_impl.h` of Linux with its 32-bit numbers.

use std::collections::VecDeque;

/// A packet: its number, IP bytes and arrival time in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plain {
    pub(crate) id: usize,
    pub(crate) length: u64,
    pub(crate) joined: u64,
    pub(crate) is_capable: bool,
}

/// The result of one call of `dequeue`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Dequeued {
    pub(crate) dropped: Vec<usize>,
    pub(crate) marked: Option<usize>,
    pub(crate) sent: Option<Plain>,
}

pub(crate) struct Settings {
    pub(crate) target: u64,
    pub(crate) interval: u64,
    pub(crate) mtu: u64,
    pub(crate) marks: bool,
}

/// The queue of the RFC. Times are in picoseconds.
pub(crate) struct RfcQueue {
    pub(crate) settings: Settings,
    pub(crate) packets: VecDeque<Plain>,
    first_above_time: u64,
    drop_next: i128,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl RfcQueue {
    pub(crate) fn new(settings: Settings) -> RfcQueue {
        let (packets, never) = (VecDeque::new(), i128::from(i64::MIN));
        RfcQueue {
            settings,
            packets,
            first_above_time: 0,
            drop_next: never,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }
    fn control_law(&self, time: i128) -> i128 {
        time + (self.settings.interval as f64 / (self.count as f64).sqrt()) as i128
    }
    fn dodequeue(&mut self, now: u64) -> (Option<Plain>, bool) {
        let Some(packet) = self.packets.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let left: u64 = self.packets.iter().map(|packet| packet.length).sum();
        if now - packet.joined < self.settings.target || left <= self.settings.mtu {
            self.first_above_time = 0;
            return (Some(packet), false);
        }
        if self.first_above_time == 0 {
            self.first_above_time = now + self.settings.interval;
            return (Some(packet), false);
        }
        (Some(packet), now >= self.first_above_time)
    }
    pub(crate) fn dequeue(&mut self, now: u64) -> Dequeued {
        let mut result = Dequeued::default();
        let at = i128::from(now);
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        let marks = |settings: &Settings, packet: Option<Plain>| {
            settings.marks && packet.is_some_and(|head| head.is_capable)
        };
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && at >= self.drop_next {
                self.count += 1;
                if marks(&self.settings, packet) {
                    result.marked = packet.map(|head| head.id);
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                result.dropped.extend(packet.map(|head| head.id));
                (packet, ok_to_drop) = self.dodequeue(now);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            if marks(&self.settings, packet) {
                result.marked = packet.map(|head| head.id);
            } else {
                result.dropped.extend(packet.map(|head| head.id));
                (packet, _) = self.dodequeue(now);
            }
            self.dropping = true;
            let delta = self.count - self.last_count;
            let is_recent = at - self.drop_next < 16 * i128::from(self.settings.interval);
            self.count = if delta > 1 && is_recent { delta } else { 1 };
            self.drop_next = self.control_law(at);
            self.last_count = self.count;
        }
        result.sent = packet;
        result
    }
}

/// The queue of Linux. The system was booted long before the run, so the time of the last drop never counts
/// as recent.
pub(crate) struct LinuxQueue {
    pub(crate) settings: Settings,
    /// The length of the link's header, bytes.
    pub(crate) header: u64,
    /// The backlog of other queues that is added to the backlog of this queue, bytes.
    pub(crate) besides: u64,
    pub(crate) packets: VecDeque<Plain>,
    first_above_time: u32,
    drop_next: u32,
    pub(crate) count: u32,
    lastcount: u32,
    rec_inv_sqrt: u16,
    dropping: bool,
}

/// The uptime of the system before the run, in steps of 1.024 us.
const BOOTED: u32 = 1 << 30;

fn steps(picoseconds: u64) -> u32 {
    (picoseconds / 1_024_000) as u32
}

impl LinuxQueue {
    pub(crate) fn new(settings: Settings, header: u64) -> LinuxQueue {
        let packets = VecDeque::new();
        let (first_above_time, drop_next, count, lastcount, rec_inv_sqrt) = (0, 0, 0, 0, 0);
        LinuxQueue {
            settings,
            header,
            besides: 0,
            packets,
            first_above_time,
            drop_next,
            count,
            lastcount,
            rec_inv_sqrt,
            dropping: false,
        }
    }
    fn newton_step(&mut self) {
        let invsqrt = u32::from(self.rec_inv_sqrt) << 16;
        let invsqrt2 = ((u64::from(invsqrt) * u64::from(invsqrt)) >> 32) as u32;
        let mut val = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(invsqrt2.into()));
        val >>= 2;
        val = val.wrapping_mul(invsqrt.into()) >> (32 - 2 + 1);
        self.rec_inv_sqrt = (val >> 16) as u16;
    }
    fn control_law(&self, time: u32) -> u32 {
        let scaled = u64::from(steps(self.settings.interval)) * u64::from(u32::from(self.rec_inv_sqrt) << 16);
        time.wrapping_add((scaled >> 32) as u32)
    }
    fn should_drop(&mut self, packet: Option<Plain>, now: u32) -> bool {
        let Some(packet) = packet else {
            self.first_above_time = 0;
            return false;
        };
        let ldelay = now.wrapping_sub(BOOTED.wrapping_add(steps(packet.joined)));
        let backlog: u64 =
            self.packets.iter().map(|packet| packet.length + self.header).sum::<u64>() + self.besides;
        if ldelay < steps(self.settings.target) || backlog <= self.settings.mtu + self.header {
            self.first_above_time = 0;
            return false;
        }
        if self.first_above_time == 0 {
            self.first_above_time = now.wrapping_add(steps(self.settings.interval));
            return false;
        }
        self.first_above_time.wrapping_sub(now).cast_signed() < 0
    }
    pub(crate) fn dequeue(&mut self, now: u64) -> Dequeued {
        let mut result = Dequeued::default();
        let now = BOOTED.wrapping_add(steps(now));
        let mut packet = self.packets.pop_front();
        let mut drop = self.should_drop(packet, now);
        let marks = |settings: &Settings, packet: Option<Plain>| {
            settings.marks && packet.is_some_and(|head| head.is_capable)
        };
        if self.dropping {
            if !drop {
                self.dropping = false;
            }
            while self.dropping && now.wrapping_sub(self.drop_next).cast_signed() >= 0 {
                self.count = self.count.wrapping_add(1);
                self.newton_step();
                if marks(&self.settings, packet) {
                    result.marked = packet.map(|head| head.id);
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                result.dropped.extend(packet.map(|head| head.id));
                packet = self.packets.pop_front();
                if self.should_drop(packet, now) {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if drop {
            if marks(&self.settings, packet) {
                result.marked = packet.map(|head| head.id);
            } else {
                result.dropped.extend(packet.map(|head| head.id));
                packet = self.packets.pop_front();
                drop = self.should_drop(packet, now);
            }
            let _ = drop;
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.lastcount);
            let since = now.wrapping_sub(self.drop_next);
            if delta > 1 && since.wrapping_sub(16 * steps(self.settings.interval)).cast_signed() < 0 {
                self.count = delta;
                self.newton_step();
            } else {
                self.count = 1;
                self.rec_inv_sqrt = 0xffff;
            }
            self.lastcount = self.count;
            self.drop_next = self.control_law(now);
        }
        result.sent = packet;
        result
    }
}
