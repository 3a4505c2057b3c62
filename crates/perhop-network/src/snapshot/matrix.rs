//! [`Snapshot::matrix`]: the fate of each codepoint between all sites.

use perhop_analysis::PacketText;
use perhop_qos::{ConfigError, Dscp, Packet};
use rayon::prelude::*;
use serde::Serialize;

use super::fates::{Fates, Outcome, Toward};
use super::{Change, ExpChange, Hop, Site, Snapshot, WalkEnd, WalkPath};
use crate::trace::LineText;

/// The fate of packets with some codepoints from one site to another.
#[derive(Clone, Debug, Serialize)]
pub struct MatrixRow {
    /// The site that sends.
    pub from: String,
    /// The site that receives.
    pub to: String,
    /// The sent codepoints with this fate.
    pub dscp: Vec<Dscp>,
    /// The fate of the packets.
    #[serde(flatten)]
    pub fate: Fate,
    /// The fate of the EXP of the packets' MPLS labels; `None` if no packet has labels on its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<ExpFate>,
}

/// The fate of the EXP of labels that packets receive on their path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum ExpFate {
    /// The EXP is the same on the first and the last link with labels.
    Kept,
    /// The EXP differs between the first and the last link with labels.
    Changed {
        /// The last place that changes the EXP.
        at: ExpPlace,
    },
}

/// A place that changes the EXP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpPlace {
    /// The name of the device.
    pub device: String,
    /// The path of the device's configuration.
    pub file: String,
    /// The EXP after the change.
    pub to: u8,
    /// The lines that change the EXP; empty if the device removes the top label, so that the next label is
    /// the top.
    pub lines: Vec<LineText>,
}

/// The fate of packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Fate {
    /// The packets arrive with the sent codepoint.
    Kept,
    /// The packets arrive with another codepoint.
    Changed {
        /// The last place that changes the codepoint.
        at: Place,
    },
    /// The packets do not arrive on at least one of their paths.
    Lost {
        /// The end of a path on which packets are lost.
        at: WalkEnd,
    },
}

/// A place that changes codepoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The name of the device.
    pub device: String,
    /// The path of the device's configuration.
    pub file: String,
    /// The codepoint after the change.
    pub to: Dscp,
    /// The lines that change the codepoint.
    pub lines: Vec<LineText>,
}

/// Rows with the indexes of sender and receiver, for sorting.
type Rows = Vec<((usize, usize), Vec<MatrixRow>)>;

impl Snapshot<'_> {
    /// Returns the fate of UDP packets of each codepoint between each pair of different sites.
    ///
    /// # Errors
    /// The policies of a device cannot be built.
    pub fn matrix(&self, codepoints: &[Dscp]) -> Result<Vec<MatrixRow>, ConfigError> {
        let sites = self.sites();
        let places: Vec<usize> = (0..sites.len()).collect();
        let size = sites.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts: Result<Vec<Rows>, ConfigError> =
            places.par_chunks(size).map(|part| self.rows(&sites, part, codepoints)).collect();
        let mut rows: Rows = parts?.into_iter().flatten().collect();
        rows.sort_by_key(|(places, _)| *places);
        Ok(rows.into_iter().flat_map(|(_, rows)| rows).collect())
    }

    /// Returns the rows of some receivers, which `receivers` contains as indexes of `sites`.
    fn rows(&self, sites: &[Site], receivers: &[usize], codepoints: &[Dscp]) -> Result<Rows, ConfigError> {
        let mut fates = Fates::new(self);
        let mut found = Rows::new();
        for to_place in receivers {
            let to = &sites[*to_place];
            let mut toward = fates.toward(to.address);
            for (from_place, from) in sites.iter().enumerate() {
                let is_other = (&from.device, &from.interface) != (&to.device, &to.interface);
                if !is_other || from.address.is_ipv4() != to.address.is_ipv4() {
                    continue;
                }
                let mut rows: Vec<MatrixRow> = Vec::new();
                for dscp in codepoints {
                    let (fate, exp) = self.fate(&mut toward, from, to, *dscp)?;
                    if let Some(row) = rows.iter_mut().find(|row| row.fate == fate && row.exp == exp) {
                        row.dscp.push(*dscp);
                    } else {
                        let (from, to) = (from.name.clone(), to.name.clone());
                        rows.push(MatrixRow { from, to, dscp: vec![*dscp], fate, exp });
                    }
                }
                found.push(((from_place, *to_place), rows));
            }
        }
        Ok(found)
    }

    fn fate(
        &self,
        toward: &mut Toward,
        from: &Site,
        to: &Site,
        dscp: Dscp,
    ) -> Result<(Fate, Option<ExpFate>), ConfigError> {
        let packet = packet(from, to, dscp)?;
        if let Some(arrives) = from.id
            && let Some(outcomes) = toward.outcomes(arrives, &packet)?
        {
            // Packets that receive labels are followed separately.
            return Ok((worst(outcomes.iter().map(|outcome| fate_of_outcome(outcome, dscp))), None));
        }
        let walk = match from.id {
            Some(id) => self.walk_from(&packet, id.device, Some(id))?,
            None => self.walk(&packet)?,
        };
        let exp = walk.paths.iter().filter_map(fate_of_exp);
        // If the EXP changes on one of several paths, the result is a change.
        let exp = exp.max_by_key(|fate| *fate != ExpFate::Kept);
        Ok((worst(walk.paths.iter().map(|path| fate_of_path(path, dscp))), exp))
    }
}

/// Returns a UDP packet between two sites. The UDP ports belong to no known application.
fn packet(from: &Site, to: &Site, dscp: Dscp) -> Result<Packet, ConfigError> {
    const TEXT: &str = "udp 192.0.2.1:49152 > 192.0.2.2:49152 dscp default len 200";
    let text: PacketText = TEXT.parse().map_err(|message: String| ConfigError::new("packet", message))?;
    let (source, destination) = (from.address.into(), to.address.into());
    Ok(Packet { source, destination, dscp, ..text.packet })
}

/// Returns the worst fate, the first of several that are equally bad.
fn worst(fates: impl Iterator<Item = Fate>) -> Fate {
    let mut worst = Fate::Kept;
    for fate in fates {
        if severity(&fate) > severity(&worst) {
            worst = fate;
        }
    }
    worst
}

fn fate_of_outcome(outcome: &Outcome, sent: Dscp) -> Fate {
    fate(&outcome.end, outcome.dscp, outcome.change.as_ref(), sent)
}

fn fate_of_path(path: &WalkPath, sent: Dscp) -> Fate {
    fate(&path.end, path.dscp, path.changes.last(), sent)
}

/// Returns the fate of the EXP on a path; `None` if the packets have no labels.
fn fate_of_exp(path: &WalkPath) -> Option<ExpFate> {
    let exp = |hop: &Hop| hop.labels.first().map(|label| label.exp);
    let first = path.hops.iter().find_map(exp)?;
    let last = path.hops.iter().rev().find_map(exp)?;
    match path.exp_changes.last().filter(|_| first != last) {
        None => Some(ExpFate::Kept),
        Some(ExpChange { device, file, to, lines, .. }) => {
            let (device, file, to, lines) = (device.clone(), file.clone(), *to, lines.clone());
            Some(ExpFate::Changed { at: ExpPlace { device, file, to, lines } })
        }
    }
}

fn fate(end: &WalkEnd, received: Dscp, change: Option<&Change>, sent: Dscp) -> Fate {
    match (end, change) {
        (WalkEnd::Delivered { .. }, Some(change)) if received != sent => {
            let Change { device, file, to, lines, .. } = change.clone();
            Fate::Changed { at: Place { device, file, to, lines } }
        }
        (WalkEnd::Delivered { .. }, _) => Fate::Kept,
        (end, _) => Fate::Lost { at: end.clone() },
    }
}

fn severity(fate: &Fate) -> u8 {
    match fate {
        Fate::Kept => 0,
        Fate::Changed { .. } => 1,
        Fate::Lost { .. } => 2,
    }
}
