//! Tables of disciplines that are known only by name, and of disciplines that only contain others.

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
        model: Model::NotModelled("a port has one transmit queue in perhop: that of the first child"),
        options: ANY,
        class: Some(ANY),
    },
    named("dsmark", "it left Linux in 6.3; mark with pedit or skbedit"),
    named("fq", "in perhop senders pace their flows; fq_codel is modeled"),
    named("netem", "delay, loss and rate belong to the scenario's links: `delay`, `loss`, `rate`"),
    named("qfq", "drr shares by bytes as well"),
    named("cbq", "it left Linux in 6.3; perhop's own `cbq` is that of Floyd and Jacobson"),
    named("choke", "red is modeled"),
    named("sfb", "fq_codel is modeled"),
    named("hhf", "fq_codel is modeled"),
    named("multiq", "a port has one transmit queue in perhop"),
    named("mqprio", "a port has one transmit queue in perhop; prio is modeled"),
    named("skbprio", "prio is modeled"),
    named("taprio", "gates by time are not modeled"),
    named("cbs", "credits of 802.1Qav are not modeled; tbf shapes"),
    named("etf", "launch times are not modeled"),
    named("plug", "perhop has no command that blocks a queue"),
    named("teql", "links are not joined in perhop"),
    named("atm", "give the link `framing: aal5-snap`"),
    named("blackhole", "every packet would be lost"),
];
