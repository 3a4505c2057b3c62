//! [`Windowed`]: the minimum or maximum in a window of time, from three samples (`lib/win_minmax.c`).

/// The best, second-best and third-best value of the window, with their times. They are `None` before the
/// first sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Windowed {
    samples: Option<[(u64, u64); 3]>,
}

impl Windowed {
    /// The best value; `None` before the first sample.
    pub(super) fn get(&self) -> Option<u64> {
        self.samples.map(|samples| samples[0].1)
    }
    /// Adds `value` at `now`, which is valid for `window`. It replaces an earlier value if `is_as_good(value,
    /// earlier)` is true.
    pub(super) fn add(&mut self, window: u64, now: u64, value: u64, is_as_good: impl Fn(u64, u64) -> bool) {
        let new = (now, value);
        let Some(samples) = &mut self.samples else {
            self.samples = Some([new; 3]);
            return;
        };
        if is_as_good(value, samples[0].1) || now - samples[2].0 > window {
            *samples = [new; 3];
            return;
        }
        if is_as_good(value, samples[1].1) {
            (samples[1], samples[2]) = (new, new);
        } else if is_as_good(value, samples[2].1) {
            samples[2] = new;
        }
        let age = now - samples[0].0;
        if age > window {
            *samples = [samples[1], samples[2], new];
            if now - samples[0].0 > window {
                *samples = [samples[1], samples[2], new];
            }
        } else if samples[1].0 == samples[0].0 && age > window / 4 {
            (samples[1], samples[2]) = (new, new);
        } else if samples[2].0 == samples[1].0 && age > window / 2 {
            samples[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum of ten rounds. When it expires, the maximum of the later rounds replaces it.
    #[test]
    fn a_maximum_is_forgotten_with_its_window() {
        let mut greatest = Windowed::default();
        let values = [5, 9, 7, 6, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3];
        let expected = [5, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 4, 4];
        for ((round, value), expected) in (0..).zip(values).zip(expected) {
            greatest.add(10, round, value, |new, old| new >= old);
            assert_eq!(greatest.get(), Some(expected), "round {round}");
        }
    }
}
