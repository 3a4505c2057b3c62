//! Table of CAKE's keywords (`tc/q_cake.c`, `net/sched/sch_cake.c`).

use super::kind::{Kind, Model};
use crate::options::Argument::{Integer, None as Nothing, Rate, Signed, Size, Time};
use crate::options::Effect::{Irrelevant, NotModelled};
use crate::options::Opt;

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "cake",
    model: Model::Modelled("`cake`, at the root of a device"),
    options: CAKE,
    class: None,
}];

const fn flag(names: &'static [&'static str], default: &'static str) -> Opt {
    Opt::new(names, Nothing, default)
}

/// The round-trip presets: `q_cake.c:presets`.
pub(crate) const RTT_PRESETS: [&str; 8] =
    ["datacentre", "lan", "metro", "regional", "internet", "oceanic", "satellite", "interplanetary"];

/// Groups of keywords in which the last keyword applies.
pub(crate) const EXCLUSIVE: [&[&str]; 7] = [
    &["bandwidth", "unlimited"],
    &["besteffort", "precedence", "diffserv8", "diffserv4", "diffserv3"],
    &["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"],
    &["nat", "nonat"],
    &["wash", "nowash"],
    &["ack-filter", "ack-filter-aggressive", "no-ack-filter"],
    &["ingress", "egress"],
];

const CAKE: &[Opt] = &[
    Opt::new(&["bandwidth"], Rate, "unlimited (cake_init)"),
    flag(&["unlimited"], "on (cake_init)"),
    flag(&["autorate-ingress"], "off")
        .effect(NotModelled("the bandwidth of perhop's cake does not follow the rate of arrivals")),
    Opt::new(&["rtt"], Time, "100ms (cake_init)"),
    flag(&["datacentre"], "rtt 100us"),
    flag(&["lan"], "rtt 1ms"),
    flag(&["metro"], "rtt 10ms"),
    flag(&["regional"], "rtt 30ms"),
    flag(&["internet"], "rtt 100ms"),
    flag(&["oceanic"], "rtt 300ms"),
    flag(&["satellite"], "rtt 1000ms"),
    flag(&["interplanetary"], "rtt 1000s"),
    flag(&["besteffort"], "off"),
    flag(&["precedence"], "off"),
    flag(&["diffserv8"], "off"),
    flag(&["diffserv4", "diffserv"], "off"),
    flag(&["diffserv3"], "on (cake_init)"),
    flag(&["flowblind"], "off"),
    flag(&["srchost"], "off"),
    flag(&["dsthost"], "off"),
    flag(&["hosts"], "off"),
    flag(&["flows"], "off"),
    flag(&["dual-srchost"], "off"),
    flag(&["dual-dsthost"], "off"),
    flag(&["triple-isolate"], "on (cake_init)"),
    flag(&["nat"], "off").effect(NotModelled("perhop does not translate addresses")),
    flag(&["nonat"], "on (cake_init)"),
    flag(&["wash"], "off"),
    flag(&["nowash"], "on (cake_init)"),
    flag(&["split-gso"], "on (cake_init)")
        .effect(Irrelevant("perhop never joins packets, so it splits none")),
    flag(&["no-split-gso"], "off").effect(Irrelevant("perhop never joins packets, so it splits none")),
    flag(&["ack-filter"], "off"),
    flag(&["ack-filter-aggressive"], "off"),
    flag(&["no-ack-filter"], "on (cake_init)"),
    flag(&["raw"], "on: the frame of the device"),
    Opt::new(&["overhead"], Signed, "0"),
    Opt::new(&["mpu"], Integer, "0"),
    flag(&["atm"], "off"),
    flag(&["ptm"], "off"),
    flag(&["noatm"], "on"),
    flag(&["conservative"], "atm overhead 48"),
    flag(&["ipoa-vcmux"], "atm overhead 8"),
    flag(&["ipoa-llcsnap"], "atm overhead 16"),
    flag(&["bridged-vcmux"], "atm overhead 24"),
    flag(&["bridged-llcsnap"], "atm overhead 32"),
    flag(&["pppoa-vcmux"], "atm overhead 10"),
    flag(&["pppoa-llc"], "atm overhead 14"),
    flag(&["pppoe-vcmux"], "atm overhead 32"),
    flag(&["pppoe-llcsnap"], "atm overhead 40"),
    flag(&["pppoe-ptm"], "ptm overhead 30"),
    flag(&["bridged-ptm"], "ptm overhead 22"),
    flag(&["via-ethernet"], "ignored (q_cake.c)").effect(Irrelevant("tc ignores it")),
    flag(&["ethernet"], "overhead 38 more, mpu 84"),
    flag(&["ether-vlan"], "overhead 4 more"),
    flag(&["docsis"], "noatm, overhead 18 more, mpu 64"),
    flag(&["ingress"], "off"),
    flag(&["egress"], "on (cake_init)"),
    Opt::new(&["memlimit"], Size, "4 × rate × rtt, 4 MiB at least (cake_reconfigure)"),
    Opt::new(&["fwmark"], Integer, "0").effect(NotModelled("in perhop firewall marks do not choose the tin")),
];
