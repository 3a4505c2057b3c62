//! [`Rounds`]: the threads that run the parts of a network.
//!
//! In each round, every part runs up to its own horizon. No packet can reach the part before its horizon,
//! because each neighbor's next event plus the delay of the link between them is later (Chandy and Misra
//! 1979, "Distributed simulation"). A thread runs the parts of its own list. If the round is not complete
//! then, the thread also runs parts from the lists of other threads. The thread that completes the last part
//! of a round begins the next round. A thread without a part does not delay others.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use perhop_qos::units::Time;

use super::cost::{ROUNDS_WITHOUT_CYCLE, assign, longest};
use super::part::{Mailboxes, Part, lock};
use super::partition::is_acyclic;

/// The number of low bits of a claim that contain the place in a list. The high bits contain the number of
/// the round.
const PLACE_BITS: u32 = 24;
/// The number of times that a waiting thread polls before it runs parts of other threads, and the number of
/// further polls before it sleeps. Waking a thread takes as long as a short round. A thread does not poll if
/// there are fewer processors than threads.
const POLLS_BEFORE_HELP: u32 = 4000;
const POLLS_BEFORE_SLEEP: u32 = 40_000;
/// The number of rounds between two assignments of parts to threads. In addition, the parts are assigned in
/// rounds 1, 2, 4, 8 and so on.
const BALANCED_EVERY: u64 = 64;

/// An observer of the progress. Its arguments are the time before which all events have happened and the
/// number of packets that have entered a wire. It returns whether the run continues.
pub(super) type Observe<'a> = &'a (dyn Fn(Time, u64) -> bool + Sync);

/// The state that the threads share.
pub(super) struct Rounds<'a> {
    parts: &'a [Mutex<Part>],
    mailboxes: &'a Mailboxes,
    /// By part: the parts from which it receives packets, each with the shortest delay of the links from it.
    sources: Vec<Vec<(usize, Time)>>,
    /// The maximum time by which a part may be ahead of the slowest part at the end of a round; `None` if the
    /// parts form no cycle. Without this limit, two parts that send to each other advance by a long time and
    /// by a short time in turn.
    window: Option<Time>,
    duration: Time,
    /// By part: the time of its next event, picoseconds.
    next: Vec<AtomicU64>,
    /// By part: the time up to which it runs in the current round, exclusive, picoseconds.
    horizons: Vec<AtomicU64>,
    /// By part: its work, in which recent rounds have more weight.
    /// [`balance_threads`](Rounds::balance_threads) reads it.
    work: Vec<AtomicU64>,
    /// By part: its work in the current round.
    latest: Vec<AtomicU64>,
    /// By part: the number of the last round in which it has events. It is not a flag, because a later round
    /// may begin between the claim of a part and the check whether the part has events.
    active_in: Vec<AtomicU64>,
    /// The number of packets that have entered a wire so far.
    hops: AtomicU64,
    /// By list: the number of the round, and the first place of the list that no thread has claimed.
    claims: Vec<AtomicU64>,
    /// The number of parts with events that are not complete in the current round.
    incomplete: AtomicUsize,
    round: Mutex<Round>,
    /// The number of the current round. It can be read without a lock.
    number: AtomicU64,
    /// Wakes the threads that sleep until the next round.
    bell: Condvar,
    /// Whether each thread has a processor, so that a waiting thread polls.
    polls: bool,
    observe: Observe<'a>,
}

/// One round.
#[derive(Clone, Debug)]
struct Round {
    number: u64,
    /// By thread: the parts in its list.
    lists: Arc<Vec<Vec<usize>>>,
    /// The number of threads that sleep until the next round.
    sleeping: usize,
    /// The work of all parts in the earlier rounds.
    work: u64,
    /// The work of the part with the most work in each earlier round, summed over these rounds.
    span: u64,
    end: Option<End>,
}

/// Counts of a run in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divided {
    /// The number of parts.
    pub parts: usize,
    /// The number of rounds.
    pub rounds: u64,
    /// The work of all parts, in the time of a packet on a wire.
    pub work: u64,
    /// The work of the part with the most work in each round, summed over the rounds. It is the shortest
    /// possible time on any number of threads. Without the cost of rounds, the time on *p* threads is at
    /// least the larger of `work` / *p* and `span`, and less than their sum (Brent 1974, "The parallel
    /// evaluation of general arithmetic expressions").
    pub span: u64,
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All events have happened.
    Complete,
    /// The observer ended the run.
    Stopped,
    /// A thread has panicked.
    Failed,
}

impl<'a> Rounds<'a> {
    /// Prepares the first round of `threads` threads.
    pub(super) fn new(
        parts: &'a [Mutex<Part>],
        mailboxes: &'a Mailboxes,
        threads: usize,
        observe: Observe<'a>,
    ) -> Rounds<'a> {
        let zeros = || parts.iter().map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let mut sources = vec![Vec::new(); parts.len()];
        let mut onward = vec![Vec::new(); parts.len()];
        let mut duration = Time::ZERO;
        for (number, part) in parts.iter().enumerate() {
            let part = lock(part);
            duration = part.duration();
            for (neighbor, delay) in part.neighbors() {
                sources[neighbor].push((number, delay));
                onward[number].push(neighbor);
            }
        }
        // A part can always advance by the shortest delay of the links to it. The window must be at least
        // this delay for every part.
        let shortest = sources.iter().filter_map(|sources| sources.iter().map(|(_, delay)| *delay).min());
        let window = shortest.max().filter(|_| !is_acyclic(&onward));
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let lists = Arc::new(assign(&vec![1; parts.len()], threads));
        let rounds = Rounds {
            parts,
            mailboxes,
            sources,
            window,
            duration,
            next: zeros(),
            horizons: zeros(),
            work: zeros(),
            latest: zeros(),
            active_in: zeros(),
            hops: AtomicU64::new(0),
            claims: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            incomplete: AtomicUsize::new(0),
            round: Mutex::new(Round { number: 0, lists, sleeping: 0, work: 0, span: 0, end: None }),
            number: AtomicU64::new(0),
            bell: Condvar::new(),
            polls: threads <= processors,
            observe,
        };
        for (number, part) in parts.iter().enumerate() {
            rounds.next[number].store(lock(part).world.next_at().as_picoseconds(), Ordering::Relaxed);
        }
        rounds.begin_next();
        rounds
    }

    /// The counts of the completed run.
    pub(super) fn counts(&self) -> Divided {
        let round = lock(&self.round);
        Divided { parts: self.parts.len(), rounds: round.number - 1, work: round.work, span: round.span }
    }

    /// Runs parts until the end of the run, as thread number `thread`.
    pub(super) fn run_thread(&self, thread: usize) -> End {
        let _guard = OnPanic(self);
        let mut round = lock(&self.round).clone();
        loop {
            if let Some(end) = round.end {
                return end;
            }
            let others = (1..self.claims.len()).map(|offset| (thread + offset) % self.claims.len());
            // The state of a part is in the cache of the thread that usually runs it. This thread therefore
            // runs parts of other threads only if the round takes long.
            round = self
                .run_list(thread, &round)
                .or_else(|| self.poll_beyond(round.number, POLLS_BEFORE_HELP))
                .or_else(|| others.into_iter().find_map(|list| self.run_list(list, &round)))
                .or_else(|| self.poll_beyond(round.number, POLLS_BEFORE_SLEEP))
                .unwrap_or_else(|| self.wait_beyond(round.number));
        }
    }

    /// Runs parts of a `list` of `round` until all are claimed. Returns the current round if a later round
    /// than `round` has begun.
    fn run_list(&self, list: usize, round: &Round) -> Option<Round> {
        loop {
            let claim = self.claims[list].fetch_add(1, Ordering::AcqRel);
            if claim >> PLACE_BITS != round.number {
                // A later round has begun, and the claim may already be for a part of it. The later round
                // cannot end before this part is complete, so its lists do not change during this block.
                let later = lock(&self.round).clone();
                if claim >> PLACE_BITS == later.number {
                    self.run_part(&later, list, claim);
                }
                return Some(lock(&self.round).clone());
            }
            if !self.run_part(round, list, claim) {
                return None;
            }
        }
    }

    /// Runs the part of `claim` on a `list` of `round`. Returns whether the list has such a part.
    fn run_part(&self, round: &Round, list: usize, claim: u64) -> bool {
        let place = (claim & ((1 << PLACE_BITS) - 1)) as usize;
        let Some(&number) = round.lists[list].get(place) else { return false };
        if self.active_in[number].load(Ordering::Relaxed) != round.number {
            return true;
        }
        let until = Time::from_picoseconds(self.horizons[number].load(Ordering::Relaxed));
        let mut part = lock(&self.parts[number]);
        let hops = part.packet_hops();
        part.take(number, self.mailboxes);
        let work = part.run_before(until, self.mailboxes);
        self.hops.fetch_add(part.packet_hops() - hops, Ordering::Relaxed);
        self.next[number].store(part.world.next_at().as_picoseconds(), Ordering::Relaxed);
        drop(part);
        self.work[number].fetch_add(work, Ordering::Relaxed);
        self.latest[number].store(work, Ordering::Relaxed);
        if self.incomplete.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.begin_next();
        }
        true
    }

    /// Begins the next round, or ends the run. No part may run during this call.
    fn begin_next(&self) {
        debug_assert!(self.parts.iter().all(|part| part.try_lock().is_ok()), "a part still runs");
        let mail: Vec<Time> =
            (0..self.parts.len()).map(|number| self.mailboxes.begin_round(number)).collect();
        let own = self.next.iter().map(|next| Time::from_picoseconds(next.load(Ordering::Relaxed)));
        let due: Vec<Time> = own.zip(&mail).map(|(own, mail)| own.min(*mail)).collect();
        let earliest = self.earliest(&due);
        let least = earliest.iter().copied().min().unwrap_or(Time::MAX);
        let mut active = 0;
        let latest = self.window.map_or(Time::MAX, |window| least.saturating_add(window));
        let following = self.number.load(Ordering::Relaxed) + 1;
        for (number, active_in) in self.active_in.iter().enumerate() {
            let horizon = self.horizon(number, &earliest).min(latest);
            // A part with mail must run even before the arrival time, because a packet can be received inline
            // earlier.
            let has_events = due[number] < horizon || mail[number] < Time::MAX;
            self.horizons[number].store(horizon.as_picoseconds(), Ordering::Relaxed);
            if has_events {
                active_in.store(following, Ordering::Relaxed);
                active += 1;
            }
        }
        let continues = (self.observe)(least.min(self.duration), self.hops.load(Ordering::Relaxed));
        let last_work: Vec<u64> = self.latest.iter().map(|work| work.swap(0, Ordering::Relaxed)).collect();
        let mut round = lock(&self.round);
        round.number += 1;
        round.work += last_work.iter().sum::<u64>();
        round.span += last_work.into_iter().max().unwrap_or(0);
        if round.end.is_none() && (!continues || least > self.duration) {
            round.end = Some(if continues { End::Complete } else { End::Stopped });
        }
        if round.number.is_power_of_two() || round.number.is_multiple_of(BALANCED_EVERY) {
            self.balance_threads(&mut round);
        }
        self.incomplete.store(active, Ordering::Relaxed);
        let number = round.number;
        for claim in &self.claims {
            // After the end of the run, no claim may select a part.
            let place = if round.end.is_some() { u64::from(u32::MAX >> 9) } else { 0 };
            claim.store(number << PLACE_BITS | place, Ordering::Release);
        }
        self.number.store(number, Ordering::Release);
        if round.sleeping > 0 {
            self.bell.notify_all();
        }
    }

    /// Returns, for each part, the earliest time at which it can have an event, including packets from
    /// neighbors. `due` has the time of the next event of each part.
    fn earliest(&self, due: &[Time]) -> Vec<Time> {
        let mut earliest = due.to_vec();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for number in 0..earliest.len() {
                for (source, delay) in &self.sources[number] {
                    let arrival = earliest[*source].saturating_add(*delay);
                    if arrival < earliest[number] {
                        earliest[number] = arrival;
                        changed = true;
                    }
                }
            }
        }
        earliest
    }

    /// Returns the time before which no packet from other parts can reach part `number`. The limit is a
    /// fraction of the run after the part's next event. Without it, parts that receive no packets would run
    /// to the end in one round.
    fn horizon(&self, number: usize, earliest: &[Time]) -> Time {
        let step = Time::from_picoseconds(self.duration.as_picoseconds() / ROUNDS_WITHOUT_CYCLE + 1);
        let sources = self.sources[number].iter();
        let arrivals = sources.map(|(source, delay)| earliest[*source].saturating_add(*delay));
        let end = self.duration + Time::from_picoseconds(1);
        arrivals.fold(end.min(earliest[number].saturating_add(step)), Time::min)
    }

    /// Assigns the parts to threads by their recent work. Because the state of a part is in the cache of its
    /// thread, the parts are assigned only if the work of the busiest thread decreases by at least a tenth.
    fn balance_threads(&self, round: &mut Round) {
        let work: Vec<u64> = self.work.iter().map(|work| work.load(Ordering::Relaxed)).collect();
        let threads = round.lists.len();
        let list_work = |list: &Vec<usize>| list.iter().map(|part| work[*part]).sum::<u64>();
        let current = round.lists.iter().map(list_work).max().unwrap_or(0);
        if longest(&work, threads) * 10 < current * 9 {
            round.lists = Arc::new(assign(&work, threads));
        }
        // Recent work has more weight.
        self.work.iter().zip(work).for_each(|(own, work)| own.store(work / 2, Ordering::Relaxed));
    }

    /// Polls `times` times for a round later than `number`. Returns the round if one has begun.
    fn poll_beyond(&self, number: u64, times: u32) -> Option<Round> {
        for _ in 0..if self.polls { times } else { 0 } {
            if self.number.load(Ordering::Acquire) != number {
                return Some(lock(&self.round).clone());
            }
            std::hint::spin_loop();
        }
        None
    }

    /// Sleeps until a round later than `number` has begun, and returns it.
    fn wait_beyond(&self, number: u64) -> Round {
        let mut round = lock(&self.round);
        while round.number == number {
            round.sleeping += 1;
            round = self.bell.wait(round).unwrap_or_else(std::sync::PoisonError::into_inner);
            round.sleeping -= 1;
        }
        round.clone()
    }
}

/// A guard that ends the run if its thread panics. Otherwise, the other threads would wait forever for the
/// part of that thread.
struct OnPanic<'a>(&'a Rounds<'a>);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let rounds = self.0;
            let mut round = lock(&rounds.round);
            round.end = Some(End::Failed);
            round.number += 1;
            rounds.number.store(round.number, Ordering::Release);
            rounds.bell.notify_all();
        }
    }
}
