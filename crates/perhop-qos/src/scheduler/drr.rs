//! Deficit round robin (Shreedhar & Varghese, SIGCOMM 1995): turns that are counted in bytes.

use super::contract::Scheduler;
use super::rounds::Rounds;
use super::share::{Takes, error_in};
use crate::policy::ClassConfig;
use crate::{ConfigError, Time};

const TAKES: Takes = Takes {
    scheduler: "drr",
    shares: &["quantum"],
    help: "drr accepts the key quantum (IP bytes per round), for example 1500B; shares are proportional to \
        the quanta",
};

/// The quantum of a class without a configured quantum: the MTU of Ethernet, so that a packet is sent in
/// every turn. The paper recommends this, because the work is O(1) per packet if the quantum is at least the
/// longest packet.
const DEFAULT_QUANTUM: u64 = 1500;

/// Deficit round robin. Each turn adds the quantum to the deficit counter of the child. The child sends
/// packets while the counter covers its head.
#[derive(Clone, Debug)]
pub struct Drr {
    rounds: Rounds,
}

impl Drr {
    pub(super) fn build(classes: &[ClassConfig]) -> Result<Drr, ConfigError> {
        TAKES.check(classes)?;
        let quantum = |(index, class): (usize, &ClassConfig)| match class.share.quantum {
            None => Ok(DEFAULT_QUANTUM),
            Some(quantum) if (1..=u64::from(u32::MAX)).contains(&quantum.as_bytes()) => {
                Ok(quantum.as_bytes())
            }
            Some(quantum) => {
                Err(error_in(index, "quantum", format!("a quantum of {quantum} is out of range"))
                    .help("1B to 4GB; at least the longest packet keeps the work per packet small"))
            }
        };
        let quanta: Vec<u64> = classes.iter().enumerate().map(quantum).collect::<Result<_, _>>()?;
        Ok(Drr { rounds: Rounds::new(quanta) })
    }
}

impl Scheduler for Drr {
    #[inline]
    fn enqueued(&mut self, _: Time, child: usize, _: u32) {
        self.rounds.enqueued(child);
    }
    #[inline]
    fn select(&mut self, _: Time, heads: &[u32]) -> Option<usize> {
        self.rounds.select(heads, u64::from)
    }
    #[inline]
    fn dequeued(&mut self, _: Time, child: usize, length: u32, _: u32) {
        self.rounds.dequeued(child, u64::from(length));
    }
    fn dropped(&mut self, _: Time, child: usize, _: u32, _: u32) {
        self.rounds.dequeued(child, 0);
    }
}
