//! [`Drops`]: the drop precedences of a queue as loss priorities, and their profiles.

use perhop_device::NotesAt;
use perhop_qos::buffer::{
    AboveMaxConfig, BufferConfig, EcnConfig, FillProfileConfig, FillStep, MredConfig, PrecedenceConfig,
};
use perhop_qos::policy::ClassConfig;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::{Dscp, QueueSize};

/// The bytes of a packet, for limits in packets.
pub(super) const PACKET: u64 = 1500;
/// The loss priorities of Junos.
const LOSSES: usize = 4;

/// The drop precedences of a queue, at most one for each loss priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Drops {
    /// The profile of each loss priority; none for tail drop.
    pub(super) rows: Vec<Vec<FillStep>>,
    /// The loss priority of each codepoint.
    of_dscp: Vec<u8>,
    /// The loss priority of each color, if the queue reads it.
    of_color: Option<Vec<u8>>,
    /// Whether early drops of ECN-capable packets are marks instead.
    pub(super) ecn: EcnConfig,
}

impl Drops {
    /// Returns the loss priority of packets: by their color if the queue reads the color, otherwise by their
    /// codepoint. `None` if the needed value is not known.
    pub(super) fn known(&self, color: Option<u8>, dscp: Option<u8>) -> Option<u8> {
        let by_color = self.of_color.as_ref().zip(color).map(|(all, color)| all[usize::from(color)]);
        by_color.or_else(|| self.of_dscp.get(usize::from(dscp?)).copied())
    }

    /// Iterates over the codepoints with a loss priority.
    pub(super) fn codepoints(&self, loss: u8) -> impl Iterator<Item = u128> {
        let own = self.of_dscp.iter().enumerate().filter(move |(_, known)| **known == loss);
        own.map(|(dscp, _)| dscp as u128)
    }
}

/// Returns the limit of a queue in bytes; `None` for a buffer manager without one.
pub(super) fn limit_bytes(buffer: Option<&BufferConfig>) -> Option<u64> {
    let bytes = |size: QueueSize| match size {
        QueueSize::Bytes(bytes) => bytes,
        QueueSize::Packets(packets) => packets * PACKET,
    };
    match buffer? {
        BufferConfig::TailDrop(config) => Some(bytes(config.limit)),
        BufferConfig::FillProfile(config) => Some(bytes(config.limit)),
        BufferConfig::Red(config) | BufferConfig::Wred(config) => {
            let most = config.precedences.iter().map(|row| bytes(row.max)).max();
            config.limit.map(bytes).or(most)
        }
        _ => None,
    }
}

/// Returns the limit of a queue with tail drop in packets; `None` for a limit in bytes.
pub(super) fn limit_packets(buffer: Option<&BufferConfig>) -> Option<u64> {
    match buffer? {
        BufferConfig::TailDrop(config) => match config.limit {
            QueueSize::Packets(packets) => Some(packets),
            QueueSize::Bytes(_) => None,
        },
        _ => None,
    }
}

/// Returns the drop precedences of a queue.
pub(super) fn drops(class: &ClassConfig, notes: &mut NotesAt) -> Drops {
    match &class.buffer {
        Some(BufferConfig::FillProfile(config)) => of_profiles(config),
        Some(buffer @ (BufferConfig::Red(config) | BufferConfig::Wred(config))) => {
            let limit = limit_bytes(Some(buffer)).unwrap_or(1);
            of_red(class, config, limit, notes)
        }
        Some(BufferConfig::TailDrop(_)) | None => Drops::default(),
        Some(other) => {
            let name = serde_json::to_value(other).unwrap_or_default();
            let name = name.as_object().and_then(|fields| fields.keys().next().cloned()).unwrap_or_default();
            notes.report(format!("buffer {name}"), "Junos has tail drop and RED by fill level");
            Drops::default()
        }
    }
}

/// Returns the drop precedences of drop profiles of Junos, where the color is the loss priority.
fn of_profiles(config: &FillProfileConfig) -> Drops {
    let rows: Vec<Vec<FillStep>> = config.precedences.iter().take(LOSSES).cloned().collect();
    let last = rows.len().saturating_sub(1) as u8;
    let of_color = (0..8).map(|color: u8| color.min(last)).collect();
    Drops {
        rows,
        of_dscp: by_codepoint(|dscp| (dscp.color().index() as u8).min(last)),
        of_color: Some(of_color),
        ecn: config.ecn,
    }
}

fn by_codepoint(loss: impl Fn(Dscp) -> u8) -> Vec<u8> {
    (0..64).filter_map(Dscp::new).map(loss).collect()
}

fn of_red(class: &ClassConfig, config: &MredConfig, limit: u64, notes: &mut NotesAt) -> Drops {
    let reason = "drop profiles of Junos compare the fill level of the queue, whose average is not published";
    notes.report("the average of random early detection", reason);
    if config.above_max == Some(AboveMaxConfig::Gentle) {
        notes.report("above-max: gentle", "the written profile drops every packet above the maximum");
    }
    if config.ecn == EcnConfig::Mark {
        notes.report("ECN marks below the maximum", "Junos also marks the packets above it");
    }
    let mut rows: Vec<Vec<FillStep>> = Vec::new();
    let mut places: Vec<u8> = Vec::new();
    for row in &config.precedences {
        let steps = steps(row, limit);
        let known = rows.iter().position(|known| *known == steps);
        let place = known.unwrap_or_else(|| {
            rows.push(steps);
            rows.len() - 1
        });
        places.push(place as u8);
    }
    if rows.len() > LOSSES {
        let construct = format!("{} thresholds by drop precedence", rows.len());
        notes.report(
            construct,
            format!("Junos has {LOSSES} loss priorities; the other drop precedences get the last one"),
        );
        rows.truncate(LOSSES);
        for place in &mut places {
            *place = (*place).min(LOSSES as u8 - 1);
        }
    }
    let row = |precedence: usize| places.get(precedence).or(places.last()).copied().unwrap_or(0);
    let of_dscp = match &class.precedence {
        PrecedenceSource::Color | PrecedenceSource::Dscp => by_codepoint(|dscp| row(dscp.color().index())),
        PrecedenceSource::IpPrecedence => by_codepoint(|dscp| row(usize::from(dscp.value() >> 3))),
        PrecedenceSource::Cos => {
            notes.report(
                "thresholds by class of service",
                "a filter of departing packets does not see the tag",
            );
            by_codepoint(|_| row(0))
        }
        PrecedenceSource::ByDscp(groups) => by_codepoint(|dscp| {
            let group = groups.iter().position(|group| group.0.contains(&dscp));
            row(group.unwrap_or(groups.len().saturating_sub(1)))
        }),
    };
    let reads_color = class.precedence == PrecedenceSource::Color;
    let of_color = reads_color.then(|| (0..8).map(row).collect());
    Drops { rows, of_dscp, of_color, ecn: config.ecn }
}

/// Returns the steps of a line from the minimum to the maximum threshold, one for each percent of the limit.
fn steps(row: &PrecedenceConfig, limit: u64) -> Vec<FillStep> {
    let bytes = |size: QueueSize| match size {
        QueueSize::Bytes(bytes) => bytes,
        QueueSize::Packets(packets) => packets * PACKET,
    };
    let percent = |size: QueueSize| (100.0 * bytes(size) as f64 / limit.max(1) as f64).clamp(0.0, 100.0);
    let (low, high) = (percent(row.min), percent(row.max));
    let mut steps: Vec<FillStep> = Vec::new();
    for fill in 0..=100u8 {
        let at = f64::from(fill);
        let drop = match at {
            at if at >= high => 100.0,
            at if at > low => 100.0 * row.max_probability * (at - low) / (high - low).max(1e-9),
            _ => 0.0,
        };
        let drop = drop.round().clamp(0.0, 100.0) as u8;
        if steps.last().map_or(0, |last| last.drop) != drop {
            steps.push(FillStep { fill, drop });
        }
    }
    steps
}
