//! [`Paths`]: the queues that streams cross, and the delays from end to end.

use std::collections::BTreeMap;

use crate::arrival::Arrival;
use crate::deviation::widened;
use crate::entry::Entry;
use crate::guarantee::line_delay;
use crate::lengths::Lengths;
use crate::service::Service;
use crate::stream::Stream;

/// A queue that a stream crossed.
#[derive(Clone, Debug)]
pub struct Crossed {
    /// The index of the direction of a link.
    pub port: usize,
    /// The number of the queue at the port of this direction.
    pub queue: usize,
    /// The largest delay of the queue, seconds.
    pub delay: Result<f64, String>,
    /// The propagation delay of the wire, seconds.
    pub propagation: f64,
    /// The service curve in IP bytes, if packets depart in the order of arrival.
    pub service: Option<Service>,
    /// The arrival curve in IP bytes.
    pub arrival: Option<Arrival>,
    /// All streams that cross the queue: their entries and their flows.
    pub population: Vec<(usize, String)>,
    /// The lengths of the packets of the queue.
    pub lengths: Lengths,
}

/// The queues that each stream crosses.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The class and the last hop of each entry, and whether routers may fragment the packets of the entry.
    entries: Vec<(String, usize, bool)>,
    /// The queues that packets may cross, by entry and hop.
    crossed: Vec<BTreeMap<usize, Vec<Crossed>>>,
}

/// The bound of one class of traffic from end to end.
#[derive(Clone, Debug)]
pub struct EndToEnd {
    /// The class of traffic.
    pub class: String,
    /// The time from the start of sending a packet to the arrival of its last bit at the receiver, seconds,
    /// or the reason why this time is unbounded.
    pub delay: Result<f64, String>,
    /// The number of ports on the path.
    pub hops: usize,
    /// Whether the burst was counted only once for several ports.
    pub pays_once: bool,
}

impl Paths {
    /// Creates the paths of `entries`. No stream has crossed a queue yet.
    pub fn new(entries: &[Entry]) -> Paths {
        let known = entries.iter().map(|entry| (entry.class.clone(), entry.path.len(), entry.may_cut));
        Paths { entries: known.collect(), crossed: vec![BTreeMap::new(); entries.len()] }
    }
    /// Whether routers may fragment packets of an entry.
    pub fn may_cut(&self, entry: usize) -> bool {
        self.entries[entry].2
    }
    /// Identifies the set of streams at a queue by their entries and flows.
    pub fn population<'a>(&self, streams: impl Iterator<Item = (usize, &'a Stream)>) -> Vec<(usize, String)> {
        let name = |(entry, stream): (usize, &Stream)| {
            (entry, format!("{} {}", stream.packet.flow_key(), stream.lengths.most()))
        };
        let mut all: Vec<_> = streams.map(name).collect();
        all.sort();
        all.dedup();
        all
    }
    /// Records that packets of `entry` crossed a queue at `hop`.
    pub fn cross(&mut self, entry: usize, hop: usize, crossed: Crossed) {
        let here = self.crossed[entry].entry(hop).or_default();
        if !here.iter().any(|known| (known.port, known.queue) == (crossed.port, crossed.queue)) {
            here.push(crossed);
        }
    }
    /// Returns the bounds of the classes in the order of their first entries.
    pub fn end_to_end(&self) -> Vec<EndToEnd> {
        let mut rows: Vec<EndToEnd> = Vec::new();
        for (entry, (class, hops, _)) in self.entries.iter().enumerate() {
            let (delay, pays_once) = self.entry_delay(entry, *hops);
            match rows.iter_mut().find(|row| row.class == *class) {
                None => rows.push(EndToEnd { class: class.clone(), delay, hops: *hops, pays_once }),
                Some(row) => {
                    row.hops = row.hops.max(*hops);
                    let is_worse = match (&row.delay, &delay) {
                        (Ok(known), Ok(other)) => other > known,
                        (Ok(_), Err(_)) => true,
                        (Err(_), _) => false,
                    };
                    if is_worse {
                        (row.delay, row.pays_once) = (delay, pays_once);
                    }
                }
            }
        }
        rows
    }

    /// Returns the delay of an entry, and whether the burst was counted only once for several ports.
    fn entry_delay(&self, entry: usize, hops: usize) -> (Result<f64, String>, bool) {
        let mut at_each = Vec::new();
        for hop in 0..hops {
            let Some(queues) = self.crossed[entry].get(&hop) else {
                return (Err("all packets of the traffic are dropped on the path".to_owned()), false);
            };
            at_each.push(queues);
        }
        let mut sum = 0.0;
        for queues in &at_each {
            for crossed in *queues {
                if let Err(reason) = &crossed.delay {
                    return (Err(reason.clone()), false);
                }
            }
            let late =
                |crossed: &Crossed| crossed.delay.clone().unwrap_or(f64::INFINITY) + crossed.propagation;
            sum += queues.iter().map(late).fold(0.0, f64::max);
        }
        let only: Option<Vec<&Crossed>> =
            at_each.iter().map(|queues| if let [queue] = &queues[..] { Some(queue) } else { None }).collect();
        let once = only.and_then(|path| delay_in_runs(&path)).filter(|once| *once < sum);
        (Ok(once.unwrap_or(sum)), once.is_some())
    }
}

/// Returns the delay along `path`, seconds. In a sequence of queues with the same streams, the burst is
/// counted once.
fn delay_in_runs(path: &[&Crossed]) -> Option<f64> {
    let (mut sum, mut first) = (0.0, 0);
    while first < path.len() {
        let same = path[first..].iter().take_while(|crossed| crossed.population == path[first].population);
        let last = first + same.count();
        sum += run_delay(&path[first..last])?;
        first = last;
    }
    Some(sum)
}

/// Returns the delay of a sequence of queues with the same streams, seconds. It is the delay of their
/// services in series, or the sum of their delays if the sum is smaller.
fn run_delay(run: &[&Crossed]) -> Option<f64> {
    let lengths = &run[0].lengths;
    let (longest, grain) = (f64::from(lengths.most()), lengths.only().map(f64::from));
    let late = |crossed: &&Crossed| crossed.delay.clone().ok().map(|delay| delay + crossed.propagation);
    let summed = run.iter().map(late).try_fold(0.0, |sum, delay| Some(sum + delay?))?;
    let propagation: f64 = run.iter().map(|crossed| crossed.propagation).sum();
    let services = run
        .iter()
        .map(|crossed| crossed.service.clone())
        .reduce(|sum, next| Some(sum?.then(&next?, longest)));
    let once = services
        .flatten()
        .zip(run[0].arrival.as_ref())
        .and_then(|(service, arrival)| line_delay(arrival, &service, grain));
    Some(once.map_or(summed, |once| (widened(once) + propagation).min(summed)))
}
