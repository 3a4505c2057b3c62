//! The conditioners of a unit: its classifiers, filters, policers and rewrite rules.

use perhop_device::Port;
use perhop_device::intent::Direction;
use perhop_device::lower::Links;
use perhop_qos::Rate;
use perhop_qos::conditioner::ConditionerConfig;

use super::device::{Findings, Stage, conditioners, links};
use super::filters::{filters, policers};
use super::meters::{Accepted, Place};
use super::nodes::TAG;
use super::ports::{ETHERNET, LineOf, accepted};
use super::stages::{behavior_aggregates, rewrites};
use crate::cos::{Amount, Attached};
use crate::firewall::FilterFamily;
use crate::interfaces::Unit;
use crate::unit_filters::Side;

impl LineOf<'_> {
    /// Adds the conditioners of a unit.
    pub(super) fn condition(
        &self,
        port: &mut Port,
        unit: &Unit,
        attached: &Attached,
        findings: &mut Findings,
    ) {
        let is_own = !unit.number.is_empty() || self.interface.units.is_empty();
        if !is_own {
            return;
        }
        let place = Place {
            device: self.device,
            interface: self.interface,
            unit,
            direction: Direction::Input,
            port_rate: self.line_rate(),
            unit_rate: self.unit_rate(attached),
            accepted: Accepted::Transmit,
        };
        let (input, output) = (&unit.sides.input, &unit.sides.output);
        let mut arriving = behavior_aggregates(self.device, unit, attached);
        arriving.extend(policers(place, input, findings));
        arriving.extend(filters(place, input, findings));
        let accepted = accepted(unit, attached);
        let place = Place { direction: Direction::Output, accepted, ..place };
        let mut departing = filters(place, output, findings);
        departing.extend(policers(place, output, findings));
        departing.extend(rewrites(self.device, unit, attached, accepted == Accepted::Label));
        let has_meters = |stages: &[Stage]| stages.iter().any(|stage| stage.config.meter.is_some());
        // A policer of frames counts the Ethernet header (recalled).
        if let Some((line, _)) = of_frames(input).filter(|_| has_meters(&arriving)) {
            if self.meters_frames_only(unit) {
                port.input.overhead = ETHERNET as i32 + i32::from(TAG * unit.tags);
            } else {
                findings
                    .not_modeled(line, "policers of frames count only IP bytes next to policers of packets");
            }
        }
        if let Some((line, _)) = of_frames(output).filter(|_| has_meters(&departing)) {
            findings.not_modeled(line, "policers of departing frames count only IP bytes in perhop");
        }
        (port.input.conditioners, port.links.input) = side(arriving);
        (port.output.conditioners, port.links.output) = side(departing);
    }

    /// Returns the shaping rate of a unit.
    fn unit_rate(&self, attached: &Attached) -> Option<Rate> {
        let profile = attached.profile.as_ref().and_then(|at| self.device.cos.profiles.get(&at.value));
        let bits = match profile.and_then(|profile| profile.shaping).map(|at| at.value) {
            Some(Amount::Rate(bits)) => Some(bits),
            Some(Amount::Percent(percent)) => Some(self.line_bits() / 100 * u64::from(percent)),
            Some(Amount::Remainder) | None => attached.shaping_rate.map(|at| at.value),
        };
        bits.map(Rate::from_bits_per_second)
    }

    /// Whether all policers of arriving packets are policers of frames.
    fn meters_frames_only(&self, unit: &Unit) -> bool {
        let filters = &self.device.firewall.filters;
        let side = &unit.sides.input;
        let is_metered = |family: FilterFamily, name: &str| {
            let terms = filters.get(family, name).into_iter().flat_map(|filter| &filter.terms);
            terms.filter(|term| term.then.policer.is_some()).count() > 0
        };
        let by_filters =
            side.filters.iter().any(|(own, at)| !own.has_frames() && is_metered(*own, &at.value));
        !by_filters && side.policers.iter().all(|(family, _)| family.has_frames())
    }
}

/// Returns the line and the family of the first filter or policer of frames.
fn of_frames(side: &Side) -> Option<(usize, FilterFamily)> {
    let filters = side.filters.iter().map(|(family, at)| (at.line, *family));
    let mut all = filters.chain(side.policers.iter().map(|(family, at)| (at.line, *family)));
    all.find(|(_, family)| family.has_frames())
}

fn side(stages: Vec<Stage>) -> (Vec<ConditionerConfig>, Links) {
    let (configs, classes) = conditioners(stages);
    (configs, links(classes))
}
