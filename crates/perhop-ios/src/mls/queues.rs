//! [`Queues`]: the four queues of a port.

use perhop_device::{
    Basis, DefaultQueue, DropThreshold, Hundredths, MarkedField, MarkedPackets, MemoryOptions, QueueMemory,
    SrrQueue, SrrQueueSet, SrrSetQueue,
};
use perhop_qos::Dscp;

use super::maps;
use super::product::Product;
use crate::ast::{MlsQos, OUTPUT_QUEUES, PortQos, QueuePlace, QueueSet, QueueThresholds};

/// The names of the queues in results.
const NAMES: [&str; OUTPUT_QUEUES] = ["queue 1", "queue 2", "queue 3", "queue 4"];
/// The name of the only queue of a switch without `mls qos`.
const ONLY: &str = "fifo";
/// The default shares of the queues in the memory of a port, percent. Source: Cisco, "Catalyst 2960 Switch
/// Software Configuration Guide".
const BUFFERS: [u64; OUTPUT_QUEUES] = [25; OUTPUT_QUEUES];
/// The default shaped weights. Source: Cisco, "Catalyst 3560 Switch Software Configuration Guide"
/// (78-16156-01).
const SHAPE: [u64; OUTPUT_QUEUES] = [25, 0, 0, 0];
/// The default shared weights (same source).
const SHARE: [u64; OUTPUT_QUEUES] = [25; OUTPUT_QUEUES];

/// Returns the default thresholds of a queue. Source: Cisco, "Catalyst 2960 Switch Software Configuration
/// Guide"; the value of the reserved part has no source (certainty: recalled).
fn usual_thresholds(index: usize) -> QueueThresholds {
    let drop = if index == 1 { [200, 200] } else { [100, 100] };
    QueueThresholds { drop, reserved: 50, maximum: 400 }
}

/// Returns the memory and the thresholds of a queue of a queue-set.
fn set_queue(set: &QueueSet, index: usize) -> SrrSetQueue {
    let thresholds = set.thresholds[index].map_or_else(|| usual_thresholds(index), |at| at.value);
    SrrSetQueue {
        number: index as u8 + 1,
        buffers_percent: set.buffers.map_or(BUFFERS, |at| at.value)[index],
        threshold1_percent: thresholds.drop[0],
        threshold2_percent: thresholds.drop[1],
        reserved_percent: thresholds.reserved,
        maximum_percent: thresholds.maximum,
    }
}

/// Returns the queue-sets.
pub(super) fn queue_sets(mls: &MlsQos) -> Vec<SrrQueueSet> {
    let sets = mls.queue_sets.iter().zip(1..);
    let queues = |set| (0..OUTPUT_QUEUES).map(|index| set_queue(set, index)).collect();
    sets.map(|(set, number)| SrrQueueSet { number, queues: queues(set) }).collect()
}

/// The settings that apply to the queues of a port.
pub(super) struct Queues<'a> {
    pub(super) mls: &'a MlsQos,
    pub(super) own: &'a PortQos,
    pub(super) set: &'a QueueSet,
    pub(super) product: &'a Product,
    pub(super) rate_bps: u64,
    pub(super) options: &'a MemoryOptions,
}

impl Queues<'_> {
    /// Returns the four queues.
    pub(super) fn of_port(&self) -> Vec<QueueMemory> {
        let (dscp, cos) = (maps::output_dscp(self.mls), maps::output_cos(self.mls));
        (0..OUTPUT_QUEUES).map(|index| self.queue(index, &dscp, &cos)).collect()
    }

    /// Returns the only queue of a switch without `mls qos`. Its limit is not published.
    pub(super) fn only_queue(&self) -> QueueMemory {
        let limit = self.options.shared_units;
        QueueMemory {
            default: Some(DefaultQueue { name: ONLY, codepoints: Vec::new() }),
            hard: limit.map(|_| 0),
            soft: limit,
            thresholds: vec![DropThreshold { units: limit, percent: None, packets: Vec::new(), line: None }],
            ..empty(1, ONLY)
        }
    }

    fn queue(&self, index: usize, dscp: &[QueuePlace], cos: &[QueuePlace]) -> QueueMemory {
        let number = index as u8 + 1;
        let written = self.set.thresholds[index];
        let set = set_queue(self.set, index);
        let percents = [set.threshold1_percent, set.threshold2_percent, set.maximum_percent];
        let allocated = self.options.port_units.map(|units| units * set.buffers_percent / 100);
        // The configured value can exceed the maximum of the hardware.
        let most =
            self.product.most_percent().map_or(set.maximum_percent, |most| most.min(set.maximum_percent));
        let units = |percent: u64| allocated.map(|allocated| allocated * percent.min(most) / 100);
        let hard = units(set.reserved_percent);
        let mut thresholds = thresholds_with_packets(number, percents, dscp, cos);
        for threshold in &mut thresholds {
            threshold.units = threshold.percent.and_then(units);
            threshold.line = written.map(|at| at.line);
        }
        let codepoints = dscp.iter().zip(0..).filter(|(place, _)| place.queue == number);
        let codepoints = codepoints.filter_map(|(_, value)| Dscp::new(value)).collect();
        let is_expedite = index == 0 && self.own.expedite.is_some();
        let shaped_weight = self.own.shape.map_or(SHAPE, |at| at.value)[index];
        let shared_weight = self.own.share.map_or(SHARE, |at| at.value)[index];
        let is_shaped = shaped_weight > 0 && !is_expedite;
        QueueMemory {
            default: Some(DefaultQueue { name: NAMES[index], codepoints }),
            line: self.set.buffers.map(|at| at.line).or(written.map(|at| at.line)),
            priority_level: is_expedite.then_some(1),
            weight: u32::try_from(shared_weight).ok(),
            hard,
            soft: units(set.maximum_percent).zip(hard).map(|(most, hard)| most.saturating_sub(hard)),
            thresholds,
            srr: Some(SrrQueue {
                buffers_percent: set.buffers_percent,
                reserved_percent: set.reserved_percent,
                reserved_port_percent: Hundredths(set.buffers_percent * set.reserved_percent),
                maximum_percent: set.maximum_percent,
                shaped_weight,
                shared_weight,
                ceiling_bps: is_shaped.then(|| self.rate_bps / shaped_weight),
            }),
            ..empty(number, NAMES[index])
        }
    }
}

fn empty(number: u8, name: &str) -> QueueMemory {
    QueueMemory {
        number,
        class: name.to_owned(),
        line: None,
        default: None,
        priority_level: None,
        weight: None,
        hard: None,
        soft: None,
        port_soft_min: None,
        global_soft_min: None,
        thresholds: Vec::new(),
        srr: None,
        dynamic_factor: None,
    }
}

/// Returns the three thresholds of queue `number`, percent, each with the packets that the maps assign to it.
pub(super) fn thresholds_with_packets(
    number: u8,
    percents: [u64; 3],
    dscp: &[QueuePlace],
    cos: &[QueuePlace],
) -> Vec<DropThreshold> {
    let of_map = |basis: Basis, map: &[QueuePlace], threshold: u8| -> Vec<MarkedPackets> {
        let own = map.iter().zip(0..).filter(|(place, _)| **place == QueuePlace { queue: number, threshold });
        own.map(|(_, value)| MarkedPackets { field: MarkedField::Mark(basis), value }).collect()
    };
    let thresholds = percents.into_iter().zip(1..).map(|(percent, threshold)| {
        let mut packets = of_map(Basis::Dscp, dscp, threshold);
        packets.extend(of_map(Basis::Cos, cos, threshold));
        DropThreshold { units: None, percent: Some(percent), packets, line: None }
    });
    thresholds.collect()
}
