//! `police` of NX-OS: rates and bursts with units, and an action for each color on the same line.

use std::mem::discriminant;

use crate::ast::{Action, At, Police, PolicyClass, Then, TrafficRate};
use crate::syntax::action::{action, unseen};
use crate::syntax::police::is_accepted;
use crate::syntax::xr::units::{burst_of, length, rate};
use crate::words::{Finding, Reader, Reading};

/// Reads `police [cir] RATE [bc BURST] [pir RATE] [be BURST] [conform A] [exceed A] [violate A]`.
///
/// With one rate and no excess burst, the policer has two colors: conforming and violating. A rate without a
/// unit is in bits per second. The switch writes `police 1000000000` as
/// `police cir 1000000000 bps bc 200 ms conform transmit violate drop` (a Nexus 3064).
pub(super) fn police(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.police = None;
        return Ok(Finding::MODELLED);
    }
    reader.keyword(&["cir"]);
    if reader.rest().get(1) == Some(&"pps") {
        return Ok(Finding::not_modelled("a policer that counts packets"));
    }
    let committed = rate(reader, "bps")?;
    let mut police = Police {
        rate: committed,
        burst: None,
        peak: None,
        excess_burst: None,
        conform: Vec::new(),
        exceed: Vec::new(),
        violate: Vec::new(),
        conform_class: None,
        exceed_class: None,
    };
    let finding = clauses(&mut police, reader)?;
    if committed == TrafficRate::BitsPerSecond(0) {
        class.police = None;
        class.drop = Some(At::new(reader.line, ()));
        return Ok(Finding::modelled("no packet conforms: all are dropped"));
    }
    if police.peak.is_none() && police.excess_burst.is_none() && police.exceed.is_empty() {
        police.exceed = std::mem::take(&mut police.violate);
    }
    if is_accepted(&police, reader) {
        class.police = Some(At::new(reader.line, police));
    }
    Ok(finding)
}

fn clauses(police: &mut Police, reader: &mut Reader) -> Reading {
    let committed = police.rate;
    let mut finding = Finding::MODELLED;
    while reader.peek().is_some() {
        match reader.one_of(&["bc", "be", "pir", "conform", "exceed", "violate"])? {
            "bc" => match burst_of(length(reader, "bytes")?, committed) {
                Ok(burst) => police.burst = Some(burst),
                Err(other) => finding = other,
            },
            "be" => match burst_of(length(reader, "bytes")?, police.peak.unwrap_or(committed)) {
                Ok(burst) => police.excess_burst = Some(burst),
                Err(other) => finding = other,
            },
            "pir" => {
                let form = reader.unexpected("the peak rate in the same form as the committed rate");
                let peak = rate(reader, "bps")?;
                if discriminant(&peak) != discriminant(&committed) {
                    return Err(form);
                }
                police.peak = Some(peak);
            }
            color => {
                let (action, of_action) = colored(reader)?;
                finding = of_action.unwrap_or(finding);
                match color {
                    "conform" => police.conform.push(action),
                    "exceed" => police.exceed.push(action),
                    _ => police.violate.push(action),
                }
            }
        }
    }
    Ok(finding)
}

/// Parses an action such as `transmit` or `set-dscp-transmit V`, or `set dscp dscp table NAME`. Also returns
/// the finding for the action, if any.
fn colored(reader: &mut Reader) -> Result<(Action, Option<Finding>), Finding> {
    if reader.rest().first() == Some(&"set") && reader.rest().contains(&"table") {
        while reader.next().is_some_and(|word| word != "table") {}
        reader.word("a table-map")?;
        let finding = "the switch transmits the packet with the mark of the table-map; perhop does not \
                       change the mark";
        let action = Action { marking: None, then: Then::Transmit };
        return Ok((action, Some(Finding::not_modelled(finding))));
    }
    let action = action(reader)?;
    let finding = unseen(&action);
    Ok((action, finding))
}
