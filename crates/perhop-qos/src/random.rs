//! Named random streams: one for each component. A stream is derived from the seed of the run and the path of
//! the component.
//!
//! A change of one part of a scenario does not change the random numbers of other parts. Random numbers do
//! not depend on the machine: PCG uses integers, and the distributions use the portable functions of `libm`.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use rand_pcg::Pcg64Mcg;

/// Creates the random stream of a component, and the streams of its inner components.
#[derive(Clone, Debug)]
pub struct Streams {
    state: u128,
}

/// The initial state of FNV-1a with 128 bits. FNV-1a has a fixed specification, unlike the hasher of the
/// standard library.
const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn fnv1a(state: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(state, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(FNV_PRIME))
}

impl Streams {
    /// Returns the streams of a run with the `seed` of the experiment. `replication` is the number of the
    /// run, beginning with 0.
    pub fn new(seed: u64, replication: u64) -> Streams {
        let state = fnv1a(FNV_OFFSET, &seed.to_le_bytes());
        Streams { state: fnv1a(state, &replication.to_le_bytes()) }
    }
    /// Returns the streams of the inner component `name`.
    pub fn child(&self, name: impl AsRef<str>) -> Streams {
        // The separator distinguishes ("ab", "c") from ("a", "bc"). No UTF-8 text contains it.
        Streams { state: fnv1a(fnv1a(self.state, &[0xff]), name.as_ref().as_bytes()) }
    }
    /// Returns the stream of this component.
    pub fn stream(&self) -> Stream {
        // The last bytes change few bits of an FNV hash, so both halves are mixed by the finalizer of
        // SplitMix64.
        let (high, low) = ((self.state >> 64) as u64, self.state as u64);
        let mixed = u128::from(mix(high ^ mix(low))) << 64 | u128::from(mix(low));
        Stream(Pcg64Mcg::new(mixed))
    }
}

/// Distributes the bits of `value` over all bits of the result. Steele, Lea & Flood 2014, "Fast splittable
/// pseudorandom number generators", Figure 17 (`mix64variant13`).
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The sequence of random numbers of one component.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// Returns 64 random bits. In units of 2⁻⁶⁴, they are the number that [`uniform`](Stream::uniform) would
    /// return, with eleven more binary digits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.random::<u64>()
    }
    /// Draws a number that is uniform on [0, 1), in steps of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        self.0.random::<f64>()
    }
    /// Draws a number with an exponential distribution of mean 1.
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }
    /// Draws a number with a Pareto distribution of mean 1 and the given `shape`, which must be above 1. The
    /// scale is (shape-1)/shape.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        let scale = (shape - 1.0) / shape;
        scale / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distribution function is 1 - (scale / x)^shape (Johnson, Kotz and Balakrishnan 1994, chapter 20).
    #[test]
    fn pareto_draws_have_their_quantiles() {
        let (shape, count) = (1.5, 20_000);
        let mut stream = Streams::new(1, 0).stream();
        let mut draws: Vec<f64> = (0..count).map(|_| stream.pareto(shape)).collect();
        draws.sort_by(f64::total_cmp);
        let scale = (shape - 1.0) / shape;
        assert!(draws[0] >= scale);
        for part in [0.25_f64, 0.5, 0.9] {
            let expected = scale / (1.0 - part).powf(1.0 / shape);
            let drawn = draws[(part * f64::from(count)) as usize];
            // In this test, three standard deviations of the order statistic are at most 2.5 %.
            assert!((drawn / expected - 1.0).abs() < 0.05, "{part}: {drawn}, expected {expected}");
        }
    }

    fn first_draws(streams: &Streams) -> Vec<f64> {
        let mut stream = streams.stream();
        (0..4).map(|_| stream.uniform()).collect()
    }

    /// `SplitMix64` applies this function to a counter. The expected values are the first outputs of the
    /// reference implementation (S. Vigna, `splitmix64.c`) with seed 1234567.
    #[test]
    fn mixing_matches_splitmix64() {
        let counter =
            |number: u64| 1_234_567_u64.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number));
        let outputs = [1, 2, 3].map(|number| mix(counter(number)));
        assert_eq!(
            outputs,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn streams_depend_on_seed_replication_and_path_only() {
        let base = Streams::new(1, 0);
        assert_eq!(first_draws(&base.child("a").child("b")), first_draws(&base.child("a").child("b")));
        let others = [Streams::new(2, 0), Streams::new(1, 1), base.child("a"), base.child("a").child("b")];
        for other in &others {
            assert_ne!(first_draws(&base), first_draws(other));
        }
        assert_ne!(first_draws(&base.child("ab").child("c")), first_draws(&base.child("a").child("bc")));
    }

    #[test]
    fn exponential_means_are_one() {
        let mut stream = Streams::new(7, 0).stream();
        let n = 200_000;
        let exponential = (0..n).map(|_| stream.exponential()).sum::<f64>() / f64::from(n);
        let pareto = (0..n).map(|_| stream.pareto(2.5)).sum::<f64>() / f64::from(n);
        assert!((exponential - 1.0).abs() < 0.01, "exponential mean {exponential}");
        assert!((pareto - 1.0).abs() < 0.02, "Pareto mean {pareto}");
    }
}
