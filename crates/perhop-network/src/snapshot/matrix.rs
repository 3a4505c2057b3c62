//! [`Snapshot::matrix`]: the fate of each codepoint between all sites.

use perhop_analysis::PacketText;
use perhop_qos::{ConfigError, Dscp};
use rayon::prelude::*;
use serde::Serialize;

use super::{Change, Site, Snapshot, WalkEnd, WalkPath};

/// The fate of packets with one codepoint from one site to another.
#[derive(Clone, Debug, Serialize)]
pub struct MatrixRow {
    /// The site that sends.
    pub from: String,
    /// The site that receives.
    pub to: String,
    /// The codepoint as sent.
    pub dscp: Dscp,
    /// Its fate.
    #[serde(flatten)]
    pub fate: Fate,
}

/// The fate of packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Fate {
    /// They arrive with the codepoint that they were sent with.
    Kept,
    /// They arrive with another one.
    Changed {
        /// The last place that changes it.
        at: Change,
    },
    /// They do not arrive, on at least one of their ways.
    Lost {
        /// The end of that way.
        at: WalkEnd,
    },
}

impl Snapshot<'_> {
    /// Returns the fate of UDP packets of each codepoint between each pair of different sites.
    ///
    /// # Errors
    /// The policies of a device cannot be built.
    pub fn matrix(&self, codepoints: &[Dscp]) -> Result<Vec<MatrixRow>, ConfigError> {
        let sites = self.sites();
        let pairs: Vec<(&Site, &Site)> = sites
            .iter()
            .flat_map(|from| sites.iter().map(move |to| (from, to)))
            .filter(|(from, to)| (&from.device, &from.interface) != (&to.device, &to.interface))
            .filter(|(from, to)| from.address.is_ipv4() == to.address.is_ipv4())
            .collect();
        let rows: Result<Vec<Vec<MatrixRow>>, ConfigError> =
            pairs.into_par_iter().map(|(from, to)| self.rows(from, to, codepoints)).collect();
        Ok(rows?.into_iter().flatten().collect())
    }

    fn rows(&self, from: &Site, to: &Site, codepoints: &[Dscp]) -> Result<Vec<MatrixRow>, ConfigError> {
        codepoints
            .iter()
            .map(|dscp| {
                // A port that no application of a class is known by.
                let text = format!("udp {}:49152 > {}:49152 dscp {dscp} len 200", from.address, to.address);
                let packet: PacketText =
                    text.parse().map_err(|message: String| ConfigError::new("packet", message))?;
                let walk = self.walk(&packet.packet)?;
                let fate = walk.paths.iter().map(|path| fate(path, *dscp)).max_by_key(severity);
                let fate = fate.unwrap_or(Fate::Kept);
                Ok(MatrixRow { from: from.name.clone(), to: to.name.clone(), dscp: *dscp, fate })
            })
            .collect()
    }
}

fn fate(path: &WalkPath, sent: Dscp) -> Fate {
    match &path.end {
        WalkEnd::Delivered { .. } if path.dscp == sent => Fate::Kept,
        WalkEnd::Delivered { .. } => match path.changes.last() {
            Some(change) => Fate::Changed { at: change.clone() },
            None => Fate::Kept,
        },
        end => Fate::Lost { at: end.clone() },
    }
}

fn severity(fate: &Fate) -> u8 {
    match fate {
        Fate::Kept => 0,
        Fate::Changed { .. } => 1,
        Fate::Lost { .. } => 2,
    }
}
