//! The time that the data plane needs per packet, in nanoseconds, for each kind of work: meters, the decision
//! of RED, schedulers, and a whole port.
//!
//! `cargo bench -p perhop-qos --bench data_plane [-- CASE]` runs all cases, or the cases whose name begins
//! with `CASE`. `make bench` runs the cases alternately with their twins in DPDK (`benchmarks/dpdk`). `make
//! bench-instructions` counts their instructions. Each line has a case, its nanoseconds per packet, and the
//! fates of the packets, which must equal the fates in the twin. The time is one of the shortest of many
//! batches, so that interrupted batches have no effect. Without `--bench`, which `cargo bench` adds, each
//! case runs one short batch and prints nothing. In this way, `cargo test` checks that every case runs.

mod buffers;
mod meters;
mod ports;
mod schedulers;

use std::time::Instant;

use perhop_qos::Color;

/// The number of packets of one batch. A batch takes about 100 µs, so that few batches are interrupted.
const BATCH: usize = 16_384;
/// The number of timed batches of one case. Before them, the same number of batches runs untimed.
const BATCHES: usize = 128;
/// The number of packets of a case that is not timed. It is large enough to fill all queues and to empty all
/// buckets.
const TRIAL: usize = 4096;

fn main() {
    let is_timed = std::env::args().any(|argument| argument == "--bench");
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let only = arguments.next().unwrap_or_default();
    let batches = arguments.next().map_or(BATCHES, |count| count.parse().expect("a number of batches"));
    let bench = Bench { only, batches, is_timed };
    meters::run(&bench);
    buffers::run(&bench);
    schedulers::run(&bench);
    ports::run(&bench);
}

/// The cases to run, and their duration.
struct Bench {
    only: String,
    batches: usize,
    /// Whether cases are timed. If not, each case runs one short batch.
    is_timed: bool,
}

impl Bench {
    /// Prepares and times the case `name`, if it is selected.
    ///
    /// `make` returns a function that processes packet `n` and returns its fate, an index below 4.
    #[allow(clippy::disallowed_methods)] // a benchmark is about wall time
    #[inline(never)] // each case gets all registers
    fn case<F: FnMut(usize) -> usize>(&self, name: &str, make: impl FnOnce() -> F) {
        if !name.starts_with(&self.only) {
            return;
        }
        let mut handle = make();
        if !self.is_timed {
            for packet in 0..TRIAL {
                handle(packet);
            }
            return;
        }
        let (mut outcomes, mut nanoseconds) = ([0_u64; 4], Vec::with_capacity(self.batches));
        for batch in 0..2 * self.batches {
            let first = batch * BATCH;
            let start = Instant::now();
            for packet in first..first + BATCH {
                outcomes[handle(packet) & 3] += 1;
            }
            if batch >= self.batches {
                nanoseconds.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
            }
        }
        let packets = (2 * self.batches * BATCH) as f64;
        let [first, second, third, _] = outcomes.map(|count| 100.0 * count as f64 / packets);
        println!("{name} {:.3} {first:.2} {second:.2} {third:.2}", undisturbed(&mut nanoseconds));
    }
}

/// Returns a time that a tenth of the batches do not exceed. Longer times include the work of other
/// processes.
fn undisturbed(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 10]
}

/// A pseudorandom sequence with identical numbers in every language (Knuth, MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
    /// The numbers below `end` in a random order, which repeats. Each number is equally frequent.
    fn shuffled(seed: u64, end: usize) -> Table {
        let (mut numbers, mut table) = (Numbers(seed), zeros());
        for (row, number) in table.iter_mut().enumerate() {
            *number = (row % end) as u32;
        }
        for row in (1..TABLE).rev() {
            table.swap(row, numbers.below(row as u64 + 1) as usize);
        }
        table
    }
    /// A sequence of numbers below `end`, one for each packet.
    fn table(seed: u64, end: u64) -> Table {
        let (mut numbers, mut table) = (Numbers(seed), zeros());
        table.fill_with(|| numbers.below(end) as u32);
        table
    }
}

/// A sequence of numbers, one for each packet. The length is a constant, so that the Rust compiler can omit
/// bounds checks, which C does not have.
type Table = Box<[u32; TABLE]>;

/// The number of packets after which lengths, colors and indices repeat. A branch predictor cannot memorize
/// this number.
const TABLE: usize = 32_768;

/// The largest number of meters or buffer managers. It is a constant, so that the Rust compiler can omit
/// bounds checks, which C does not have.
const MOST: usize = 4096;

/// Returns [`MOST`] copies of `value`.
#[expect(clippy::unnecessary_box_returns, reason = "4096 of them belong on the heap, not on the stack")]
fn most<T: Clone>(value: T) -> Box<[T; MOST]> {
    let Ok(all) = vec![value; MOST].try_into() else { unreachable!("the vector has that length") };
    all
}

/// The properties of a packet that a meter or a queue uses: its length, the index of the meter or queue, and
/// its color.
#[derive(Clone, Copy)]
struct Arrival {
    length: u32,
    place: u32,
    color: Color,
}

/// Packets with lengths below `range` and of any color. Each of `instances` indices is equally frequent.
fn arrivals(range: u64, instances: usize) -> Box<[Arrival; TABLE]> {
    let (lengths, colors, places) =
        (Numbers::table(1, range), Numbers::table(2, 3), Numbers::shuffled(3, instances));
    Box::new(std::array::from_fn(|row| Arrival {
        length: lengths[row],
        place: places[row],
        color: Color::new(colors[row] as usize),
    }))
}

fn zeros() -> Table {
    vec![0; TABLE].try_into().expect("it is as long as a table")
}
