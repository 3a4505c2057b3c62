//! The packet memory of a switch: the queues of a port use the memory of its chip.
//!
//! All ports of the switch share the memory of its chip.

use perhop_qos::QueueSize;
use perhop_qos::buffer::{BufferConfig, MemoryConfig, SharedMemoryConfig, TailDropConfig};

use super::device::{Device, Findings};
use super::shares::Queue;
use crate::cos::Partition;
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
    let shared = device.cos.shared_buffer.percent.map_or(100, |at| u64::from(at.value));
    (u64::from(chip.cells(percent)) * shared / 100) as u32
}

/// Returns the buffer of a queue on a chip.
///
/// Lossless and multicast queues have separate parts of the memory, but perhop has one memory per port.
/// Therefore these queues get a fixed limit: the limit of a single congested queue in their part.
pub(super) fn buffer(device: Device, chip: &Chip, queue: &Queue, findings: &mut Findings) -> BufferConfig {
    let written = queue.scheduler.and_then(|own| own.threshold);
    for drop in queue.scheduler.iter().flat_map(|own| &own.drops) {
        findings.not_modeled(drop.line, "drop profiles of queues in a shared memory");
    }
    let buffer = &device.cos.shared_buffer;
    let has_own = queue.number >= MULTICAST && chip.multicast_percent > 0;
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
    if !is_lossless && !has_own {
        return BufferConfig::SharedMemory(SharedMemoryConfig {
            alpha: Some(alpha),
            ..SharedMemoryConfig::default()
        });
    }
    let whole = f64::from(cells(device, chip, partition, default_percent));
    let cells = (whole * alpha / (1.0 + alpha)) as u64;
    let bytes = (cells * u64::from(chip.cell_bytes)).max(u64::from(chip.cell_bytes));
    BufferConfig::TailDrop(TailDropConfig { limit: QueueSize::Bytes(bytes) })
}
