//! Tables of disciplines that perhop knows only by name, and of disciplines that only contain other
//! disciplines.

use super::kind::{Kind, Model};
use crate::options::Opt;

const ANY: &[Opt] = &[];

const fn named(name: &'static str, why: &'static str) -> Kind {
    Kind { name, model: Model::NotModelled(why), options: ANY, class: Some(ANY) }
}

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "clsact",
        model: Model::Modelled("conditioners of both directions"),
        options: ANY,
        class: None,
    },
    Kind {
        name: "ingress",
        model: Model::Modelled("conditioners of arriving packets"),
        options: ANY,
        class: None,
    },
    Kind { name: "noqueue", model: Model::Irrelevant("the device has no queue"), options: ANY, class: None },
    Kind {
        name: "mq",
        model: Model::NotModelled(
            "a port in perhop has one transmit queue: perhop uses the queue of the first child",
        ),
        options: ANY,
        class: Some(ANY),
    },
    named("dsmark", "it was removed in Linux 6.3; mark with pedit or skbedit"),
    named("fq", "in perhop the senders pace their flows; use fq_codel"),
    named("netem", "delay, loss and rate belong to the scenario's links: `delay`, `loss`, `rate`"),
    named("qfq", "use drr, which also shares by bytes"),
    named(
        "cbq",
        "Linux 6.3 removed it; the `cbq` of perhop's scenarios is the scheduler of Floyd and Jacobson",
    ),
    named("choke", "use red instead"),
    named("sfb", "use fq_codel instead"),
    named("hhf", "use fq_codel instead"),
    named("multiq", "a port in perhop has one transmit queue"),
    named("mqprio", "a port in perhop has one transmit queue; use prio instead"),
    named("skbprio", "use prio instead"),
    named("taprio", "it opens gates by time, which perhop does not model"),
    named("cbs", "it shapes by the credits of 802.1Qav; tbf shapes by a token bucket"),
    named("etf", "perhop does not model launch times of packets"),
    named("plug", "perhop has no command that blocks a queue"),
    named("teql", "perhop does not join links"),
    named("atm", "give the link `framing: aal5-snap`"),
    named("blackhole", "it drops every packet"),
];
