//! Commands of the block `pvc`.

use super::command::{Command, irrelevant, modelled, not_modelled};
use super::interface::number;
use super::interface_link::flag;
use super::queueing::{fair_queue, optional, service_policy};
use super::random_detect::random_detect;
use crate::ast::{At, AtmService, CellEncapsulation, Pvc};
use crate::rules;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Pvc>] = &[
    modelled("cbr", |pvc, reader| service(pvc, reader, cbr)),
    modelled("encapsulation", encapsulation),
    modelled("fair-queue", |pvc, reader| {
        let fair = if reader.negated() { None } else { Some(fair_queue(reader)?) };
        pvc.fair_queue = Some(At::new(reader.line, fair));
        Ok(Finding::MODELLED)
    }),
    modelled("pppoe-client", |pvc, reader| {
        // The pool connects a Dialer to the circuit, but the policy of the circuit itself queues the packets.
        pvc.pppoe = flag(reader);
        Ok(Finding::MODELLED)
    }),
    modelled("random-detect", |pvc, reader| random_detect(&mut pvc.random_detect, reader)),
    modelled("service-policy", |pvc, reader| service_policy(&mut pvc.service_policies, reader)),
    modelled("tx-ring-limit", |pvc, reader| number(&mut pvc.tx_ring_limit, reader, "particles")),
    modelled("ubr", |pvc, reader| service(pvc, reader, ubr)),
    modelled("vbr-nrt", |pvc, reader| service(pvc, reader, vbr_nrt)),
    modelled("vc-hold-queue", |pvc, reader| number(&mut pvc.hold_queue, reader, "packets")),
    not_modelled("abr", "available bit rate: the rate follows feedback of the ATM network"),
    not_modelled("class-vc", "a vc-class sets parameters of the circuit"),
    not_modelled("compress", "compression makes packets shorter"),
    not_modelled("ubr+", "a guaranteed minimum under an unspecified rate"),
    not_modelled("vbr-rt", "variable bit rate, real-time"),
    irrelevant("broadcast"),
    irrelevant("dialer"),
    irrelevant("ilmi"),
    irrelevant("inarp"),
    irrelevant("oam"),
    irrelevant("oam-pvc"),
    irrelevant("ppp"),
    irrelevant("protocol"),
];

/// Accepted cell rates, kilobits per second.
const KILOBITS: std::ops::RangeInclusive<u64> = 1..=10_000_000;

fn service(
    pvc: &mut Pvc,
    reader: &mut Reader,
    read: fn(&mut Reader) -> Result<AtmService, Finding>,
) -> Reading {
    if reader.negated() {
        pvc.service = None;
        return Ok(Finding::MODELLED);
    }
    let service = read(reader)?;
    reader.end()?;
    pvc.service = Some(At::new(reader.line, service));
    Ok(match service {
        AtmService::VbrNrt { peak, sustained, .. } if peak > sustained => Finding::not_modelled(
            "in perhop cells leave at the sustained rate, without bursts at the peak rate",
        ),
        _ => Finding::MODELLED,
    })
}

fn cbr(reader: &mut Reader) -> Result<AtmService, Finding> {
    reader.number("the rate in kb/s", KILOBITS).map(AtmService::Cbr)
}

fn ubr(reader: &mut Reader) -> Result<AtmService, Finding> {
    optional(reader, "the peak rate in kb/s", KILOBITS).map(AtmService::Ubr)
}

/// Parses peak rate, sustained rate and burst. A single number is the value of both rates.
fn vbr_nrt(reader: &mut Reader) -> Result<AtmService, Finding> {
    let peak = reader.number("the peak rate in kb/s", KILOBITS)?;
    let sustained = optional(reader, "the sustained rate in kb/s", KILOBITS)?.unwrap_or(peak);
    let burst = optional(reader, "the burst in cells", 1..=65535)?;
    if sustained > peak {
        reader.report_crossed(
            &rules::CIRCUIT_RATES_CROSSED,
            (peak, sustained),
            format!("the sustained rate, {sustained} kb/s, is above the peak rate, {peak} kb/s"),
            "the router refuses the line, so the circuit has no specified rate",
        );
        return Ok(AtmService::Unspecified);
    }
    Ok(AtmService::VbrNrt { peak, sustained, burst })
}

fn encapsulation(pvc: &mut Pvc, reader: &mut Reader) -> Reading {
    if reader.negated() {
        pvc.encapsulation = None;
        return Ok(Finding::MODELLED);
    }
    let word = reader.word("an encapsulation")?;
    let (encapsulation, finding) = match word.to_ascii_lowercase().as_str() {
        "aal5snap" => (CellEncapsulation::Snap, Finding::MODELLED),
        "aal5mux" if reader.peek().is_none_or(|protocol| protocol == "ip") => {
            (CellEncapsulation::Mux, Finding::MODELLED)
        }
        "aal5mux" if reader.eat("ppp") => (CellEncapsulation::MuxPpp, Finding::MODELLED),
        "aal5mux" | "aal5ciscoppp" | "aal5nlpid" | "aal5autoppp" => (
            CellEncapsulation::Other,
            Finding::not_modelled("perhop does not count the header of the carried frames"),
        ),
        _ => return Err(Finding::not_recognized(format!("`{word}` is not an encapsulation of a circuit"))),
    };
    pvc.encapsulation = Some(At::new(reader.line, encapsulation));
    Ok(finding)
}
