//! The packet memory of a switch. The queues of all ports share the memory of the chip.

use perhop_qos::QueueSize;
use perhop_qos::buffer::{BufferConfig, FillStep, MemoryConfig, MemoryProfilesConfig, SharedMemoryConfig};

use super::buffers::{ecn, of_limit, profiles};
use super::device::{Device, Findings};
use super::shares::Queue;
use crate::cos::{DropProfile, Form, Partition};
use crate::families::Chip;

/// The first queue of multicast.
const MULTICAST: u8 = 8;
/// The name of the memory that all ports share.
const POOL: &str = "chip";

/// Returns the memory that the queues of a port share; `None` without a chip.
///
/// Junos Traffic Management User Guide (QFX), "egress (Buffer Configuration)": the percentage that is not
/// shared becomes dedicated memory.
pub(super) fn memory(device: Device) -> Option<MemoryConfig> {
    let chip = device.rules.chip?;
    Some(MemoryConfig {
        unit_bytes: chip.cell_bytes,
        overhead: MemoryConfig::ETHERNET + chip.metadata_bytes,
        shared: cells(device, chip, device.cos.shared_buffer.lossy, chip.lossy_percent),
        pool: Some(POOL.to_owned()),
        reserved: 0,
        limit: None,
        port_fall: None,
        pool_fall: None,
    })
}

/// Returns the cells of a partition.
fn cells(device: Device, chip: &Chip, partition: Partition, default_percent: u32) -> u32 {
    let percent = partition.percent.map_or(default_percent, |at| u32::from(at.value));
    let buffer = &device.cos.shared_buffer;
    let shared = buffer.percent.map_or(100, |at| u64::from(at.value));
    let dedicated = buffer.dedicated.map(|percent| percent.map_or(100, |at| at.value));
    (u64::from(chip.cells(chip.shared_kilobytes(dedicated), percent)) * shared / 100) as u32
}

/// Returns the buffer of a queue on a chip.
///
/// Lossless and multicast queues have separate parts of the memory, but perhop has one memory per port.
/// Therefore these queues get a fixed limit: the limit of a single congested queue in their part.
pub(super) fn buffer(device: Device, chip: &Chip, queue: &Queue, findings: &mut Findings) -> BufferConfig {
    let written = queue.scheduler.and_then(|own| own.threshold);
    let buffer = &device.cos.shared_buffer;
    let has_own = queue.number >= MULTICAST && chip.multicast_percent > 0;
    let mut precedences = profiles(device, queue.scheduler, steps);
    if has_own {
        // TechLibrary cos-drop-profiles-qfx-series-cli: only queues of unicast have drop profiles.
        precedences.clear();
        for drop in queue.scheduler.iter().flat_map(|own| &own.drops) {
            findings
                .not_modeled(drop.line, "drop profiles of multicast queues, which the device does not have");
        }
    }
    let is_lossless = device.cos.classes.of_queue(queue.number).iter().any(|(_, class)| class.is_lossless);
    let (partition, default_percent, default_index) = if is_lossless {
        (buffer.lossless, chip.lossless_percent, Chip::LOSSLESS_INDEX)
    } else if has_own {
        (buffer.multicast, chip.multicast_percent, Chip::LOSSY_INDEX)
    } else {
        (buffer.lossy, chip.lossy_percent, Chip::LOSSY_INDEX)
    };
    let index = written.or(partition.threshold).map_or(default_index, |at| at.value);
    let alpha = Chip::alpha(index);
    // The cells of the queue while all other queues are empty.
    let whole = cells(device, chip, partition, default_percent);
    let full = ((f64::from(whole) * alpha / (1.0 + alpha)) as u32).max(1);
    let ecn = ecn(queue.scheduler);
    if !is_lossless && !has_own {
        let has_profiles = precedences.iter().flatten().any(|step| step.fill < 100);
        return BufferConfig::SharedMemory(SharedMemoryConfig {
            alpha: Some(alpha),
            profiles: has_profiles.then_some(MemoryProfilesConfig { full, precedences, ecn }),
            ..SharedMemoryConfig::default()
        });
    }
    let bytes = u64::from(full) * u64::from(chip.cell_bytes);
    of_limit(QueueSize::Bytes(bytes), precedences, ecn)
}

/// Returns the steps of a drop profile on a switch, for each whole percent of the fill level.
///
/// The topic `fill-level-edit-class-of-service`: the probability rises in a line from the first fill level to
/// the last one, and above the last one all packets are dropped. The fill level is a percentage of the memory
/// of the queue (`cos-drop-profiles-qfx-series-cli`): here of the memory that the queue has alone (inferred:
/// the chips store cells, not percentages). Probabilities are truncated to whole percent, as on routers.
fn steps(profile: &DropProfile) -> Vec<FillStep> {
    let (Some((first, _)), Some((last, _))) = (profile.points.first(), profile.points.last()) else {
        return Vec::new();
    };
    let drop = |fill: u8| match profile.form {
        Form::Interpolated if fill == *last => 100,
        Form::Interpolated | Form::Steps => profile.probability(fill),
    };
    let mut found: Vec<FillStep> = Vec::new();
    for (fill, drop) in (*first..=*last).map(|fill| (fill, drop(fill))) {
        if found.last().map_or(0, |step| step.drop) != drop {
            found.push(FillStep { fill, drop });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::NodeId;

    fn table(form: Form, points: &[(u8, u8)]) -> Vec<(u8, u8)> {
        let profile = DropProfile { line: 1, node: NodeId::ROOT, form, points: points.to_vec() };
        steps(&profile).into_iter().map(|step| (step.fill, step.drop)).collect()
    }

    /// From 40 to 45 percent the probability rises by 2 percent for each percent of the fill level.
    #[test]
    fn a_profile_rises_from_its_first_level_and_drops_all_from_its_last() {
        let expected = [(41, 2), (42, 4), (43, 6), (44, 8), (45, 100)];
        assert_eq!(table(Form::Interpolated, &[(40, 0), (45, 10)]), expected);
        assert_eq!(table(Form::Steps, &[(40, 5), (45, 10)]), [(40, 5), (45, 10)]);
        assert!(table(Form::Interpolated, &[]).is_empty());
    }
}
