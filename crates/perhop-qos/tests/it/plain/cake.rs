//! A plain implementation of CAKE. It searches all flows to find one, counts the flows of each host again,
//! compares all queues to find the longest, and uses signed nanoseconds like Linux. The time of a byte must
//! be a whole number of nanoseconds.

use std::collections::{BTreeMap, VecDeque};

use perhop_qos::packet::{Address, Ecn, TcpHeader};
use perhop_qos::random::{Stream, Streams};
use perhop_qos::{DropCause, FlowKey, Packet, Time};

/// The settings that the tests vary.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The nanoseconds per byte of the whole wire, or 0 without a bandwidth. `tins` has the nanoseconds per
    /// byte and the weight of each tin.
    pub(crate) byte_ns: i64,
    pub(crate) tins: Vec<(i64, i64)>,
    pub(crate) quanta: Vec<u32>,
    pub(crate) rtt_ns: i64,
    pub(crate) overhead: u32,
    pub(crate) memory: u64,
    pub(crate) ingress: bool,
    /// Whether flows from one source share the bandwidth of the source. `destinations` is the same for flows
    /// to one destination.
    pub(crate) sources: bool,
    pub(crate) destinations: bool,
    /// Whether acknowledgments are filtered (`Some`), and whether the filter is aggressive.
    pub(crate) ack_filter: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    None,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}

#[derive(Clone, Debug, Default)]
struct Cobalt {
    count: u32,
    root: u32,
    drop_next: i64,
    blue_timer: i64,
    p_drop: u32,
    dropping: bool,
}

#[derive(Clone, Debug)]
struct Flow {
    key: FlowKey,
    packets: VecDeque<(i64, Packet)>,
    deficit: i64,
    set: Set,
    cobalt: Cobalt,
}

#[derive(Clone, Debug, Default)]
struct Tin {
    flows: Vec<Flow>,
    fresh: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    next: i64,
    deficit: i64,
    target: i64,
    interval: i64,
    mtu_ns: i64,
}

pub(crate) struct Plain {
    settings: Settings,
    tins: Vec<Tin>,
    next: i64,
    failsafe: i64,
    turn: usize,
    random: Stream,
    /// The TCP headers, by the number of the packet.
    pub(crate) headers: BTreeMap<u64, TcpHeader>,
}

/// An event at a pull or push: a packet (its tin, its number) is sent, marked if the last field is true, or
/// it is dropped. If no packet can be sent, the event is a wait or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Sent(usize, u64, bool),
    Dropped(usize, u64, DropCause),
    WaitsUntil(Time),
    Nothing,
}

fn ns(time: Time) -> i64 {
    (time.as_picoseconds() / 1000).cast_signed()
}

fn newton(root: u32, count: u32) -> u32 {
    let square = (u128::from(root) * u128::from(root)) >> 32;
    let three = 3u128 << 32;
    let rest = (three - u128::from(count) * square) >> 2;
    ((rest * u128::from(root)) >> 31) as u32
}

impl Cobalt {
    fn new_root(&mut self) {
        if self.count < 16 {
            let mut root = u32::MAX;
            for count in 1..=self.count {
                root = (0..4).fold(root, |root, _| newton(root, count));
            }
            self.root = root;
        } else {
            self.root = newton(self.root, self.count);
        }
    }
    fn control(&self, from: i64, interval: i64) -> i64 {
        from + ((i128::from(interval) * i128::from(self.root)) >> 32) as i64
    }
    /// Returns whether the packet is marked, and the cause if it is dropped: `EarlyForced` by `CoDel`, or
    /// `EarlyRandom` by BLUE.
    fn should_drop(
        &mut self,
        tin: (i64, i64, i64),
        now: i64,
        since: i64,
        ecn: Ecn,
        bulk: i64,
        draw: impl FnOnce() -> u64,
    ) -> (bool, Option<DropCause>) {
        let (target, interval, mtu) = tin;
        let waited = now - since;
        let mut schedule = now - self.drop_next;
        let over = waited > target && waited > mtu * bulk * 2 && waited > mtu * 4;
        let mut due = self.count > 0 && schedule >= 0;
        let (mut marks, mut drops) = (false, None);
        if over {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now, interval);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else {
            self.dropping = false;
        }
        if due && self.dropping {
            if ecn == Ecn::NotCapable {
                drops = Some(DropCause::EarlyForced);
            } else {
                marks = true;
            }
            self.count += 1;
            self.new_root();
            self.drop_next = self.control(self.drop_next, interval);
            schedule = now - self.drop_next;
        } else {
            while due {
                self.count -= 1;
                self.new_root();
                self.drop_next = self.control(self.drop_next, interval);
                schedule = now - self.drop_next;
                due = self.count > 0 && schedule >= 0;
            }
        }
        if self.p_drop > 0 && draw() >> 32 < u64::from(self.p_drop) && drops.is_none() {
            drops = Some(DropCause::EarlyRandom);
        }
        if self.count == 0 {
            self.drop_next = now + interval;
        } else if schedule > 0 && drops.is_none() {
            self.drop_next = now;
        }
        (marks, drops)
    }
}

/// The difference `to` − `from` modulo 2^32, from -2^31 to below 2^31.
fn distance(from: u32, to: u32) -> i64 {
    let ahead = i64::from(to) - i64::from(from);
    (ahead + (1 << 31)).rem_euclid(1 << 32) - (1 << 31)
}

/// Whether `latest` makes `earlier` redundant: `earlier` only acknowledges, and `latest` acknowledges the
/// same bytes and more. Each block of `earlier` must be within a single block of `latest`.
fn is_superseded(earlier: &TcpHeader, latest: &TcpHeader) -> bool {
    let plain = [TcpHeader::ACK, TcpHeader::ACK | TcpHeader::ECE, TcpHeader::ACK | TcpHeader::CWR, 0xd0];
    if !plain.contains(&earlier.flags) || earlier.has_payload || earlier.has_others {
        return false;
    }
    if let Some((value, echo)) = earlier.timestamps {
        let (new_value, new_echo) = latest.timestamps.unwrap_or((0, 0));
        if distance(value, new_value) < 0 || distance(echo, new_echo) < 0 {
            return false;
        }
    }
    let ahead = distance(earlier.acknowledgment, latest.acknowledgment);
    let is_known = |(start, end): &(u32, u32)| {
        distance(earlier.acknowledgment, *start) >= 0
            && latest
                .blocks()
                .iter()
                .any(|(from, to)| distance(*from, *start) >= 0 && distance(*end, *to) >= 0)
    };
    let bytes = |header: &TcpHeader| {
        header.blocks().iter().map(|(start, end)| i64::from(end.wrapping_sub(*start))).sum::<i64>()
    };
    let more = bytes(latest) > bytes(earlier) || earlier.blocks == 0 && latest.blocks > 0;
    ahead >= 0 && earlier.blocks().iter().all(is_known) && (ahead > 0 || more)
}

/// `cake_ack_filter`: returns the index of the packet to drop from a queue whose last packet has just joined,
/// if there is one.
pub(crate) fn needless(queue: &[Option<TcpHeader>], aggressive: bool) -> Option<usize> {
    let (latest, before) = queue.split_last()?;
    let latest = latest.as_ref()?;
    if latest.flags & TcpHeader::ACK == 0 || latest.flags & TcpHeader::SYN != 0 {
        return None;
    }
    let ecn = |header: &TcpHeader| header.flags & (TcpHeader::ECE | TcpHeader::CWR);
    let mut first: Option<usize> = None;
    for (number, header) in before.iter().enumerate() {
        let Some(header) = header else { continue };
        if first.is_some_and(|first| ecn(before[first].as_ref().unwrap()) != ecn(header)) {
            first = None;
        }
        if is_superseded(header, latest) {
            match first {
                Some(first) => return Some(first),
                None => first = Some(number),
            }
        }
    }
    let first = first.filter(|first| aggressive && first + 1 == before.len())?;
    (ecn(before[first].as_ref()?) == ecn(latest)).then_some(first)
}

impl Plain {
    pub(crate) fn new(settings: Settings, streams: &Streams) -> Plain {
        let aim = settings.rtt_ns / 20;
        let tin = |(byte_ns, _): &(i64, i64)| {
            let mtu_ns = byte_ns * i64::from(1500 + 14);
            let target = aim.max(mtu_ns * 3 / 2);
            let interval = (settings.rtt_ns + target - aim).max(2 * target);
            Tin { target, interval, mtu_ns, ..Tin::default() }
        };
        let tins = settings.tins.iter().map(tin).collect();
        let (random, headers) = (streams.stream(), BTreeMap::new());
        Plain { settings, tins, next: 0, failsafe: 0, turn: 0, random, headers }
    }

    fn counted(&self, packet: &Packet) -> i64 {
        i64::from(packet.length + self.settings.overhead)
    }
    fn memory(&self) -> u64 {
        let frames = self.tins.iter().flat_map(|tin| &tin.flows).flat_map(|flow| &flow.packets);
        frames.map(|(_, packet)| u64::from(packet.length + 14 + 384).next_power_of_two() + 256).sum()
    }
    fn held(&self) -> usize {
        self.tins.iter().flat_map(|tin| &tin.flows).map(|flow| flow.packets.len()).sum()
    }

    fn bulk(&self, tin: usize, host_of: impl Fn(&FlowKey) -> Address, host: Address) -> i64 {
        let bulk = self.tins[tin].flows.iter().filter(|flow| flow.set == Set::Bulk);
        bulk.filter(|flow| host_of(&flow.key) == host).count().cast_signed() as i64
    }
    fn quantum(&mut self, tin: usize, flow: usize) -> i64 {
        let key = self.tins[tin].flows[flow].key;
        let mut load = 1;
        if self.settings.sources {
            load = load.max(self.bulk(tin, |key| key.source, key.source));
        }
        if self.settings.destinations {
            load = load.max(self.bulk(tin, |key| key.destination, key.destination));
        }
        let dither = (self.random.bits() >> 48).cast_signed();
        (i64::from(self.settings.quanta[tin]) * (65_535 / load) + dither) >> 16
    }

    pub(crate) fn push(&mut self, now: Time, tin: usize, packet: &Packet) -> Vec<Fate> {
        let now = ns(now);
        if self.held() == 0 && self.next < now {
            self.next = now;
            self.failsafe = now;
        }
        let at = &mut self.tins[tin];
        if at.flows.iter().all(|flow| flow.packets.is_empty()) {
            at.next = at.next.max(now);
        }
        let key = packet.flow_key();
        let index = at.flows.iter().position(|flow| flow.key == key).unwrap_or_else(|| {
            let (packets, cobalt) = (VecDeque::new(), Cobalt::default());
            at.flows.push(Flow { key, packets, deficit: 0, set: Set::None, cobalt });
            at.flows.len() - 1
        });
        at.flows[index].packets.push_back((now, *packet));
        match at.flows[index].set {
            Set::None | Set::Decaying => {
                at.decaying.retain(|other| *other != index);
                at.fresh.push_back(index);
                at.flows[index].set = Set::Sparse;
                let quantum = self.quantum(tin, index);
                self.tins[tin].flows[index].deficit = quantum;
            }
            Set::SparseWait => at.flows[index].set = Set::Bulk,
            Set::Sparse | Set::Bulk => {}
        }
        let mut fates = self.filter(now, tin, index);
        fates.extend(self.overflow(now));
        fates
    }

    /// Drops the acknowledgment that the last packet of a flow makes redundant.
    fn filter(&mut self, now: i64, tin: usize, index: usize) -> Vec<Fate> {
        let Some(aggressive) = self.settings.ack_filter else { return Vec::new() };
        let packets: Vec<Packet> =
            self.tins[tin].flows[index].packets.iter().map(|(_, packet)| *packet).collect();
        let headers: Vec<Option<TcpHeader>> =
            packets.iter().map(|packet| self.headers.get(&packet.payload).copied()).collect();
        let Some(gone) = needless(&headers, aggressive) else { return Vec::new() };
        self.tins[tin].flows[index].packets.remove(gone);
        if self.settings.ingress {
            self.advance(now, tin, self.counted(&packets[gone]), true);
        }
        vec![Fate::Dropped(tin, packets[gone].payload, DropCause::EarlyForced)]
    }

    fn overflow(&mut self, now: i64) -> Vec<Fate> {
        let mut fates = Vec::new();
        while self.memory() > self.settings.memory {
            let bytes = |flow: &Flow| {
                flow.packets.iter().map(|(_, packet)| u64::from(packet.length + 14)).sum::<u64>()
            };
            let all = self.tins.iter().enumerate().flat_map(|(tin, at)| {
                at.flows.iter().enumerate().map(move |(index, flow)| (tin, index, bytes(flow)))
            });
            let Some((tin, index, _)) = all.max_by_key(|(_, _, bytes)| *bytes) else { break };
            let target = self.tins[tin].target;
            let flow = &mut self.tins[tin].flows[index];
            let Some((_, packet)) = flow.packets.pop_front() else { break };
            let cobalt = &mut flow.cobalt;
            if now - cobalt.blue_timer > target {
                cobalt.p_drop = cobalt.p_drop.saturating_add(1 << 24);
                cobalt.blue_timer = now;
            }
            cobalt.dropping = true;
            cobalt.drop_next = now;
            cobalt.count = cobalt.count.max(1);
            if self.settings.ingress {
                self.advance(now, tin, self.counted(&packet), true);
            }
            fates.push(Fate::Dropped(tin, packet.payload, DropCause::QueueFull));
        }
        fates
    }

    fn advance(&mut self, now: i64, tin: usize, bytes: i64, dropped: bool) {
        let takes = bytes * self.settings.byte_ns;
        let of_tin = bytes * self.settings.tins[tin].0;
        let at = &mut self.tins[tin];
        if at.next < now {
            at.next += of_tin;
        } else if at.next < now + of_tin {
            at.next = now + of_tin;
        }
        self.next += takes;
        if !dropped {
            self.failsafe += takes + takes / 2;
        }
    }

    fn has_turns(tin: &Tin) -> bool {
        tin.flows.iter().any(|flow| matches!(flow.set, Set::Sparse | Set::SparseWait | Set::Bulk))
    }
    fn choose(&mut self, now: i64) -> usize {
        if self.settings.byte_ns == 0 {
            while self.tins[self.turn].deficit < 0 || !Plain::has_turns(&self.tins[self.turn]) {
                if self.tins[self.turn].deficit <= 0 {
                    self.tins[self.turn].deficit += self.settings.tins[self.turn].1;
                }
                self.turn = (self.turn + 1) % self.tins.len();
            }
            return self.turn;
        }
        let (mut best, mut best_time) = (0, i64::MAX);
        for (number, tin) in self.tins.iter().enumerate() {
            if Plain::has_turns(tin) && (tin.next - now <= 0 || tin.next - now <= best_time) {
                (best, best_time) = (number, tin.next - now);
            }
        }
        best
    }

    #[expect(clippy::too_many_lines, reason = "the steps of one function of the kernel, in its order")]
    pub(crate) fn pull(&mut self, now: Time) -> Vec<Fate> {
        let now = ns(now);
        let (mut fates, mut first) = (Vec::new(), true);
        'begin: loop {
            if self.held() == 0 {
                fates.push(Fate::Nothing);
                return fates;
            }
            if self.next > now && self.failsafe > now {
                fates.push(Fate::WaitsUntil(Time::from_nanoseconds(self.next.min(self.failsafe) as u64)));
                return fates;
            }
            let tin = self.choose(now);
            'retry: loop {
                let at = &self.tins[tin];
                let decaying = at.decaying.front().filter(|_| first).copied();
                let Some(index) = decaying
                    .or(at.fresh.front().copied())
                    .or(at.old.front().copied())
                    .or(at.decaying.front().copied())
                else {
                    continue 'begin;
                };
                first = false;
                if self.tins[tin].flows[index].deficit <= 0 {
                    self.turn_over(tin, index);
                    continue 'retry;
                }
                loop {
                    let bulk = self.tins[tin]
                        .flows
                        .iter()
                        .filter(|flow| flow.set == Set::Bulk)
                        .count()
                        .cast_signed() as i64;
                    let at = &mut self.tins[tin];
                    let times = (at.target, at.interval, at.mtu_ns);
                    let flow = &mut at.flows[index];
                    let Some((since, packet)) = flow.packets.pop_front() else {
                        self.empty(tin, index, now);
                        continue 'begin;
                    };
                    let random = &mut self.random;
                    let bulk = if self.settings.ingress { bulk } else { 0 };
                    let (marks, drops) =
                        flow.cobalt
                            .should_drop(times, now, since, packet.marks.ecn(), bulk, || random.bits());
                    let bytes = i64::from(packet.length + self.settings.overhead);
                    if let Some(cause) = drops.filter(|_| !flow.packets.is_empty()) {
                        fates.push(Fate::Dropped(tin, packet.payload, cause));
                        if self.settings.ingress {
                            flow.deficit -= bytes;
                            at.deficit -= bytes;
                            self.advance(now, tin, bytes, true);
                            continue 'retry;
                        }
                        continue;
                    }
                    flow.deficit -= bytes;
                    at.deficit -= bytes;
                    self.advance(now, tin, bytes, false);
                    fates.push(Fate::Sent(tin, packet.payload, marks));
                    return fates;
                }
            }
        }
    }

    fn leave(&mut self, tin: usize, index: usize) {
        let at = &mut self.tins[tin];
        for list in [&mut at.fresh, &mut at.old, &mut at.decaying] {
            list.retain(|other| *other != index);
        }
    }
    fn turn_over(&mut self, tin: usize, index: usize) {
        let flow = &mut self.tins[tin].flows[index];
        if flow.set == Set::Sparse {
            flow.set = if flow.packets.is_empty() { Set::SparseWait } else { Set::Bulk };
        }
        let quantum = self.quantum(tin, index);
        self.tins[tin].flows[index].deficit += quantum;
        self.leave(tin, index);
        self.tins[tin].old.push_back(index);
    }
    fn empty(&mut self, tin: usize, index: usize, now: i64) {
        let (target, interval) = (self.tins[tin].target, self.tins[tin].interval);
        let flow = &mut self.tins[tin].flows[index];
        let cobalt = &mut flow.cobalt;
        if cobalt.p_drop > 0 && now - cobalt.blue_timer > target {
            cobalt.p_drop = cobalt.p_drop.saturating_sub(1 << 20);
            cobalt.blue_timer = now;
        }
        cobalt.dropping = false;
        if cobalt.count > 0 && now >= cobalt.drop_next {
            cobalt.count -= 1;
            cobalt.new_root();
            cobalt.drop_next = cobalt.control(cobalt.drop_next, interval);
        }
        let rests = cobalt.p_drop == 0 && cobalt.count == 0 && now >= cobalt.drop_next;
        flow.set = if rests { Set::None } else { Set::Decaying };
        self.leave(tin, index);
        if !rests {
            self.tins[tin].decaying.push_back(index);
        }
    }
}
