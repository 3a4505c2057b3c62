//! Policers as meters, and the buckets that several uses of a policer share.

use perhop_device::intent::Direction;
use perhop_qos::classifier::OneOrMany;
use perhop_qos::meter::{
    ColorMode, HierarchicalConfig, MeterConfig, PacketRateConfig, SingleRateTcmConfig, TokenBucketConfig,
    TwoRateTcmConfig,
};
use perhop_qos::units::PacketRate;
use perhop_qos::{ByteSize, Color, QueueSize, Rate};

use super::device::{Device, Findings};
use super::stages::labels;
use crate::firewall::{Hierarchical, Instance, Measure, Metered, PercentOf, Policer, ThreeColor};
use crate::interfaces::{Interface, Unit};
use crate::unit_filters::Side;

/// The continuation of packets that a filter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// The packets leave the conditioners.
    Transmit,
    /// Conditioners follow: later terms skip them by their labels.
    Label,
}

/// The context of filters: a unit, its classes, and the rates of the unit and its port.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) device: Device<'p>,
    pub(super) interface: &'p Interface,
    pub(super) unit: &'p Unit,
    pub(super) direction: Direction,
    pub(super) port_rate: Option<Rate>,
    /// The shaping rate of the unit.
    pub(super) unit_rate: Option<Rate>,
    pub(super) accepted: Accepted,
}

/// Returns the name of a bucket that several stages share; `None` for a bucket of a single stage.
///
/// Without a statement, each term and each family of a unit has its own bucket (Junos Routing Policies and
/// Firewall Filters User Guide, "Filter-Specific Policer Overview").
pub(super) fn shared(place: Place, policer: &Metered, filter: Option<&str>) -> Option<String> {
    let (name, unit) = (policer.name(), format!("{}.{}", place.interface.name, place.unit.number));
    match place.device.firewall.policers.instance(policer) {
        Instance::Term => None,
        Instance::Filter => filter.map(|filter| format!("{name} of {filter} at {unit}")),
        Instance::LogicalInterface => Some(format!("{name} at {unit}")),
        // A percentage of a unit's rate differs between units, so each unit has its own bucket.
        Instance::PhysicalInterface if is_of_unit(place, policer) => Some(format!("{name} at {unit}")),
        Instance::PhysicalInterface => Some(format!("{name} at {}", place.interface.name)),
    }
}

/// Whether a policer has a percentage of the rate of its unit.
fn is_of_unit(place: Place, policer: &Metered) -> bool {
    let Metered::Plain(name) = policer else { return false };
    let plain = place.device.firewall.policers.plain.get(name);
    plain.is_some_and(|plain| matches!(plain.measure, Measure::Percent { of: PercentOf::Unit, .. }))
}

/// Reports a bucket that arriving packets of several units share, because perhop has separate conditioners
/// for each unit. Departing packets of all units pass one conditioner if the whole port runs.
pub(super) fn note_units(place: Place, policer: &Metered, line: usize, findings: &mut Findings) {
    let is_of_port = place.device.firewall.policers.instance(policer) == Instance::PhysicalInterface;
    if !is_of_port || place.direction == Direction::Output {
        return;
    }
    let users = place.interface.units.iter().filter(|unit| uses(place.device, &unit.sides.input, policer));
    if users.count() > 1 {
        findings
            .not_modeled(line, "units share a bucket for arriving packets; in perhop each unit has its own");
    }
}

/// Whether a filter or policer of a direction uses a policer.
fn uses(device: Device, side: &Side, policer: &Metered) -> bool {
    let filters =
        side.filters.iter().filter_map(|(family, at)| device.firewall.filters.get(*family, &at.value));
    side.policers.iter().any(|(_, at)| at.value == *policer)
        || filters.flat_map(|filter| &filter.terms).any(|term| term.then.policer.as_ref() == Some(policer))
}

/// Reports a percentage of a rate that the configuration does not state: the policer passes all packets.
pub(super) fn note_percent(place: Place, policer: &Policer, attached: usize, findings: &mut Findings) {
    let Measure::Percent { of, .. } = policer.measure else { return };
    if reference(place, of).is_none() {
        findings.not_modeled(attached, "a policer with a percentage of a rate that the text does not state");
    }
}

/// Returns the rate that a percentage refers to.
fn reference(place: Place, of: PercentOf) -> Option<Rate> {
    match of {
        PercentOf::Port => place.port_rate,
        PercentOf::Unit => place.unit_rate.or(place.port_rate),
    }
}

/// Returns the meter of a policer; `None` if it has a percentage of an unknown rate.
pub(super) fn plain(place: Place, policer: &Policer) -> Option<MeterConfig> {
    let bucket = |rate: u64, burst: u64| {
        MeterConfig::TokenBucket(TokenBucketConfig {
            rate: Rate::from_bits_per_second(rate),
            burst: ByteSize::from_bytes(burst),
            excess: Color::RED,
        })
    };
    Some(match policer.measure {
        Measure::Bits { rate, burst } => bucket(rate, burst),
        Measure::Percent { percent, of, burst } => {
            let rate = reference(place, of)?.as_bits_per_second();
            let rate = u128::from(rate) * u128::from(percent) / 100;
            bucket(u64::try_from(rate).ok()?.max(8), burst)
        }
        Measure::Packets { rate, burst } => MeterConfig::PacketRate(PacketRateConfig {
            rate: PacketRate::from_packets_per_second(rate),
            burst: QueueSize::Packets(burst),
            excess: Color::RED,
        }),
    })
}

/// RFC 2697 and 2698.
pub(super) fn three_color(policer: &ThreeColor, mode: ColorMode) -> MeterConfig {
    let (rate, burst) = policer.committed;
    let (cir, cbs) = (Rate::from_bits_per_second(rate), ByteSize::from_bytes(burst));
    let excess = ByteSize::from_bytes(policer.excess_burst);
    match policer.peak_rate {
        Some(peak) => {
            let pir = Rate::from_bits_per_second(peak);
            MeterConfig::TwoRateTcm(TwoRateTcmConfig { cir, cbs, pir, pbs: excess, mode })
        }
        None => MeterConfig::SingleRateTcm(SingleRateTcmConfig { cir, cbs, ebs: excess, mode }),
    }
}

/// Returns the meter of a hierarchical policer. Without a premium class, all packets use the aggregate level.
pub(super) fn hierarchical(place: Place, policer: &Hierarchical) -> MeterConfig {
    let (rate, burst) = policer.aggregate;
    let (rate, burst) = (Rate::from_bits_per_second(rate), ByteSize::from_bytes(burst));
    let premium: Vec<u8> =
        place.device.cos.classes.premium().into_iter().flat_map(|label| labels(label, true)).collect();
    if premium.is_empty() {
        return MeterConfig::TokenBucket(TokenBucketConfig { rate, burst, excess: Color::YELLOW });
    }
    MeterConfig::Hierarchical(HierarchicalConfig {
        premium: OneOrMany(premium),
        premium_rate: Rate::from_bits_per_second(policer.premium.0),
        premium_burst: ByteSize::from_bytes(policer.premium.1),
        rate,
        burst,
    })
}
