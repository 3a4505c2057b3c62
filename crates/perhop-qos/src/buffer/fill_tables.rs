//! [`FillTables`]: the drop probability at each fill level in whole percent, for each drop precedence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mred::options::EcnConfig;
use crate::packet::Ecn;
use crate::random::{Stream, Streams};
use crate::{Color, ConfigError, DropCause, Packet, Verdict};

/// A step of a fill profile: the drop probability from one fill level up to the fill level of the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FillStep {
    /// The fill level, percent of the limit.
    pub fill: u8,
    /// The drop probability, percent.
    pub drop: u8,
}

/// The number of fill levels: 0 to 100 percent.
const LEVELS: usize = 101;

/// The drop probabilities by fill level, and a source of random numbers.
#[derive(Clone, Debug)]
pub(super) struct FillTables {
    /// The probability at each fill level, percent, for each drop precedence.
    percents: Box<[[u8; LEVELS]]>,
    ecn: EcnConfig,
    random: Stream,
}

impl FillTables {
    /// Builds the tables from the steps of each drop precedence. Precedences above the last one in
    /// `precedences` use its steps.
    ///
    /// # Errors
    /// There is no profile, there are too many profiles, or their steps are out of range or not in ascending
    /// order.
    pub(super) fn new(
        precedences: &[Vec<FillStep>],
        ecn: EcnConfig,
        streams: &Streams,
    ) -> Result<FillTables, ConfigError> {
        check(precedences)?;
        let percent_by_fill = |index: usize| {
            let steps = precedences.get(index).or(precedences.last());
            std::array::from_fn(|fill| {
                let reached = steps?.iter().rev().find(|step| usize::from(step.fill) <= fill);
                reached.map(|step| step.drop)
            })
            .map(|drop: Option<u8>| drop.unwrap_or(0))
        };
        let percents = (0..Color::COUNT).map(percent_by_fill).collect();
        Ok(FillTables { percents, ecn, random: streams.stream() })
    }

    /// Returns the verdict on `packet`, which finds the queue at `fill` percent.
    pub(super) fn judge(&mut self, packet: &Packet, precedence: Color, fill: usize) -> Verdict {
        let cause = match self.percents[precedence.index()][fill.min(LEVELS - 1)] {
            0 => return Verdict::Pass,
            100.. => DropCause::EarlyForced,
            percent if self.random.uniform() * 100.0 < f64::from(percent) => DropCause::EarlyRandom,
            _ => return Verdict::Pass,
        };
        let is_marked = match self.ecn {
            EcnConfig::Ignore => false,
            EcnConfig::Mark => cause == DropCause::EarlyRandom,
            EcnConfig::MarkAll => true,
        };
        if is_marked && packet.marks.ecn() != Ecn::NotCapable {
            Verdict::MarkCe
        } else {
            Verdict::Drop(cause)
        }
    }

    /// Whether every packet that finds the queue empty passes.
    pub(super) fn spare_an_empty_queue(&self) -> bool {
        self.percents.iter().all(|table| table[0] == 0)
    }
}

/// Checks the steps of each drop precedence.
///
/// # Errors
/// There is no profile, there are too many profiles, or their steps are out of range or not in ascending
/// order.
pub(super) fn check(precedences: &[Vec<FillStep>]) -> Result<(), ConfigError> {
    let count = precedences.len();
    if count == 0 || count > Color::COUNT {
        return Err(ConfigError::new("precedences", format!("{count} profiles are out of range"))
            .help(format!("1 to {}: one for each drop precedence", Color::COUNT)));
    }
    for (index, steps) in precedences.iter().enumerate() {
        let is_out = steps.iter().any(|step| step.fill > 100 || step.drop > 100);
        if is_out || steps.windows(2).any(|pair| pair[1].fill <= pair[0].fill) {
            let message = "fill levels and probabilities are percentages, and the levels ascend";
            return Err(ConfigError::new(&index.to_string(), message)
                .within("precedences")
                .help("for example [{fill: 50, drop: 10}, {fill: 80, drop: 100}]"));
        }
    }
    Ok(())
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
pub(super) fn ignores_ecn(ecn: &EcnConfig) -> bool {
    *ecn == EcnConfig::Ignore
}
