//! [`Rule`]: a step in the derivation of a bound, with its formula and source.

use serde::Serialize;

/// A step in the derivation of a bound. Amounts are in bytes, and times in seconds. A bound is the minimum of
/// the results of all rules that apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The port serves all packets first come, first served.
    Fifo,
    /// A level of strict priority.
    Priority,
    /// A share of self-clocked fair queueing.
    Scfq,
    /// A share of weighted fair queueing.
    Wfq,
    /// A share of WF2Q+.
    Wf2qPlus,
    /// Turns of deficit round robin.
    Drr,
    /// Turns of weighted round robin.
    Wrr,
    /// The minimum rate of three-parameter scheduling.
    Minimum,
    /// The guaranteed rate of guarantee-excess.
    GuaranteedRate,
    /// A shaper.
    Shaper,
    /// The rate that remains after all other queues, for any order of service.
    Rest,
    /// The limit of the queue.
    QueueLimit,
}

impl Rule {
    /// Returns the formula of the rule.
    pub fn formula(self) -> &'static str {
        match self {
            Rule::Fifo => "β(t) = C·t; D = sup over t of α(t)/C − t, α of all queues together",
            Rule::Priority => {
                "β(t) = C·t − L − Σ α_h(t) over the levels h above; L: the longest packet below, or all that \
                 the transmit ring holds; α_h(t + D_h) under another scheduler or where a level has a cap"
            }
            Rule::Scfq => "β(t) = φ·C·t − φ·Σ L_j over the other classes j; φ: its part of the weights",
            Rule::Wfq | Rule::Wf2qPlus => "β(t) = φ·C·(t − L/C); L: the longest packet of all",
            Rule::Drr => {
                "T(x) = (x + ⌈x/Q⌉·Σ Q_j + Σ (L_j − 1) + L)/C over the other classes j; Q: quantum, L: its own \
                 longest packet"
            }
            Rule::Wrr => "T(n) = (n·L + ⌈n/w⌉·Σ w_j·L_j + Σ L_j + L)/C over the other classes j; n: packets",
            Rule::Minimum => {
                "β(t) = m·(t − Θ − L_max/C) − L; m: its minimum, Θ: the latency of the schedulers above"
            }
            Rule::GuaranteedRate => {
                "β(t) = g·(t − Θ − L/R); g: its guaranteed rate; R after Θ: what the guarantees of its level \
                 and of the levels above it leave, b_j + g_j·t each or its arrivals"
            }
            Rule::Shaper => "β(t) = r·(t − Θ − L/C), at most the curve above; r: its rate",
            Rule::Rest => "β(t) = C·t − Σ α_j(t) over all other classes j",
            Rule::QueueLimit => "D = T(limit), where β(T(x)) = x; packets above the limit are dropped",
        }
    }
    /// Returns the source of the formula.
    pub fn source(self) -> &'static str {
        match self {
            Rule::Fifo => "Le Boudec and Thiran, Network Calculus, 2001, theorems 1.4.1 and 1.4.2",
            Rule::Priority => "Le Boudec and Thiran, Network Calculus, 2001, §6.2.1; RFC 3246 §2 on EF",
            Rule::Scfq => "Golestani, INFOCOM 1994; Stiliadis and Varma, IEEE/ACM ToN 6(5), 1998",
            Rule::Wfq => "Parekh and Gallager, IEEE/ACM ToN 1(3), 1993, theorem 1; RFC 2212",
            Rule::Wf2qPlus => "Bennett and Zhang, IEEE/ACM ToN 5(5), 1997",
            Rule::Drr => {
                "Shreedhar and Varghese, SIGCOMM 1995; Boyer, Stea and Sofack, VALUETOOLS 2012; its line is \
                 (3F − 2φ)/C of Stiliadis and Varma 1998"
            }
            Rule::Wrr => {
                "Katevenis, Sidiropoulos and Courcoubetis, IEEE JSAC 9(8), 1991, turn by turn as for DRR"
            }
            Rule::Minimum => "Stoica, Zhang and Ng, SIGCOMM 1997 (H-FSC, real-time criterion)",
            Rule::GuaranteedRate => {
                "Juniper, Hierarchical CoS Scheduler Priority Propagation; Le Boudec and Thiran 2001, §1.5 and \
                 theorem 6.2.1 (blind multiplexing)"
            }
            Rule::Shaper => "Le Boudec and Thiran, Network Calculus, 2001, §1.5",
            Rule::Rest => "Le Boudec and Thiran, Network Calculus, 2001, theorem 6.2.1 (blind multiplexing)",
            Rule::QueueLimit => "the definition of a strict service curve: Le Boudec and Thiran 2001, §1.3",
        }
    }
}
