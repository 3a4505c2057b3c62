//! Tables of classful disciplines.

use super::kind::{Kind, Model};
use crate::options::Argument::{
    Curve, Decimal, Hexadecimal, Integer, Integers, None as Nothing, RateOrPercent, Size, SizeAndCell, Word,
};
use crate::options::Effect::{Irrelevant, NotModelled, NotModelledBut};
use crate::options::Opt;

const MAP: &str = "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 (prio2band)";

pub(super) const KINDS: &[Kind] = &[
    Kind { name: "prio", model: Model::Modelled("`scheduler: priority`"), options: PRIO, class: Some(&[]) },
    Kind { name: "drr", model: Model::Modelled("`scheduler: drr`"), options: &[], class: Some(DRR_CLASS) },
    Kind {
        name: "ets",
        model: Model::Modelled("`scheduler: priority` over the strict bands, `scheduler: drr` below"),
        options: ETS,
        class: Some(ETS_CLASS),
    },
    Kind { name: "htb", model: Model::Modelled("`scheduler: htb`"), options: HTB, class: Some(HTB_CLASS) },
    Kind {
        name: "hfsc",
        model: Model::Modelled("`scheduler: hfsc`"),
        options: HFSC,
        class: Some(HFSC_CLASS),
    },
];

const PRIO: &[Opt] = &[
    Opt::new(&["bands"], Decimal, "3 (prio_parse_opt)"),
    Opt::new(&["priomap"], Integers, MAP),
    Opt::new(&["multiqueue"], Nothing, "").effect(Irrelevant("Linux ignores it since 2.6.27")),
];

pub(super) const PFIFO_FAST: &[Opt] = &[
    Opt::new(&["bands"], Integer, "3 (PFIFO_FAST_BANDS)").shown(),
    Opt::new(&["priomap"], Integers, MAP).shown(),
];

const DRR_CLASS: &[Opt] = &[Opt::new(&["quantum"], Size, "MTU + 14, 1514 bytes (psched_mtu)")];

const ETS: &[Opt] = &[
    Opt::new(&["bands"], Integer, "the number of strict bands and quanta").once(),
    Opt::new(&["strict"], Integer, "0"),
    Opt::new(&["quanta"], Integers, "MTU + 14 for the other bands (ets_qdisc_change)"),
    Opt::new(&["priomap"], Integers, "all to the last band"),
];
const ETS_CLASS: &[Opt] = &[Opt::new(&["quantum"], Size, "that of quanta")];

const HTB: &[Opt] = &[
    Opt::new(&["default"], Hexadecimal, "0: none (htb_init)").short(),
    Opt::new(&["r2q"], Integer, "10 (htb_parse_opt)").short(),
    Opt::new(&["direct_qlen"], Integer, "the device's txqueuelen, 1000 (htb_init)").short(),
    Opt::new(&["debug"], Word, "").short().effect(Irrelevant("it only writes to the kernel's log")),
    Opt::new(&["offload"], Nothing, "off").short().effect(NotModelled("the device's own scheduler")),
    Opt::new(&["direct_packets_stat"], Integer, "").shown().effect(Irrelevant("a counter")),
    Opt::new(&["ver"], Word, "").shown().effect(Irrelevant("a version")),
];

const HTB_CLASS: &[Opt] = &[
    Opt::new(&["rate"], RateOrPercent, "must be given").once(),
    Opt::new(&["ceil"], RateOrPercent, "rate (htb_parse_class_opt)").once(),
    Opt::new(&["burst", "buffer", "maxburst"], SizeAndCell, "rate / HZ + 1600 bytes (htb_parse_class_opt)")
        .short(),
    Opt::new(&["cburst", "cbuffer", "cmaxburst"], SizeAndCell, "ceil / HZ + 1600 bytes").short(),
    Opt::new(&["prio"], Integer, "0").short(),
    Opt::new(&["quantum"], Integer, "rate / r2q in bytes, 1000 to 200000 (htb_change_class)").short(),
    Opt::new(&["mtu"], Integer, "1600: only the default of burst depends on it").short(),
    Opt::new(&["mpu"], Integer, "0").short(),
    Opt::new(&["overhead"], Integer, "0").short(),
    Opt::new(&["linklayer"], Word, "ethernet").short(),
    Opt::new(&["level"], Integer, "")
        .shown()
        .effect(Irrelevant("Linux derives the value from the tree of classes")),
];

const HFSC: &[Opt] = &[Opt::new(&["default"], Hexadecimal, "0: none, the packet is dropped").once()];
const HFSC_CLASS: &[Opt] = &[
    Opt::new(&["rt"], Curve, "none"),
    Opt::new(&["ls"], Curve, "none"),
    Opt::new(&["sc"], Curve, "none; sets rt and ls together"),
    Opt::new(&["ul"], Curve, "none"),
];

/// The options of the size table of any discipline (`tc_stab.c`).
pub(crate) const STAB: &[Opt] = &[
    Opt::new(&["overhead"], crate::options::Argument::Signed, "0").short(),
    Opt::new(&["linklayer"], Word, "ethernet").short().effect(NotModelledBut(
        &["ethernet"],
        "perhop's scheduler does not count ATM cells: give the link `framing: aal5-snap`",
    )),
    Opt::new(&["mtu"], Integer, "2047").short().effect(Irrelevant("the size of the table")),
    Opt::new(&["mpu"], Integer, "0")
        .short()
        .effect(NotModelledBut(&["0"], "in perhop short packets count with their own length")),
    Opt::new(&["tsize"], Integer, "512").short().effect(Irrelevant("the size of the table")),
    Opt::new(&["data"], Word, "").shown().effect(Irrelevant("the size of the table")),
];
