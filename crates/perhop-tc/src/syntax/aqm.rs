//! Tables of classless disciplines with active queue management.

use super::kind::{Kind, Model};
use crate::options::Argument::{
    Fraction, Integer, Masked, None as Nothing, Percent, RateOrPercent, Rest, Size, SizeAndCell, Time,
    TimeOrPackets, Word,
};
use crate::options::Effect::{Irrelevant, NotModelled, NotModelledBut};
use crate::options::Opt;

const PER_PACKET: &str = "counters of show";

pub(super) const KINDS: &[Kind] = &[
    Kind { name: "pfifo", model: Model::Modelled("tail drop in packets"), options: PFIFO, class: None },
    Kind { name: "bfifo", model: Model::Modelled("tail drop in bytes"), options: BFIFO, class: None },
    Kind {
        name: "pfifo_fast",
        model: Model::Modelled("three queues by type of service, in strict priority"),
        options: super::classful::PFIFO_FAST,
        class: None,
    },
    Kind {
        name: "pfifo_head_drop",
        model: Model::NotModelled("it drops the oldest packet of a full queue; pfifo drops the newest"),
        options: PFIFO,
        class: None,
    },
    Kind { name: "codel", model: Model::Modelled("`codel` with `law: linux`"), options: CODEL, class: None },
    Kind {
        name: "fq_codel",
        model: Model::Modelled("`fq-codel` with `law: linux`"),
        options: FQ_CODEL,
        class: None,
    },
    Kind { name: "pie", model: Model::Modelled("`pie` with `law: linux`"), options: PIE, class: None },
    Kind {
        name: "fq_pie",
        model: Model::Modelled("`fq-pie` with `law: linux`"),
        options: FQ_PIE,
        class: None,
    },
    Kind {
        name: "dualpi2",
        model: Model::Modelled("`dualpi2` with `law: linux`"),
        options: DUALPI2,
        class: None,
    },
    Kind { name: "red", model: Model::Modelled("`red` with `law: linux-red`"), options: RED, class: None },
    Kind {
        name: "gred",
        model: Model::Modelled("`mred` with `law: linux-gred`, its default queue"),
        options: GRED,
        class: None,
    },
    Kind { name: "sfq", model: Model::Modelled("fair queueing of flows"), options: SFQ, class: None },
    Kind { name: "tbf", model: Model::Modelled("a shaper before one queue"), options: TBF, class: Some(&[]) },
];

const PFIFO: &[Opt] = &[Opt::new(&["limit"], Size, "the device's txqueuelen, 1000 (fifo_init)")];
const BFIFO: &[Opt] =
    &[Opt::new(&["limit"], Size, "txqueuelen × (MTU + 14), 1514000 (fifo_init: psched_mtu)")];

const CODEL: &[Opt] = &[
    Opt::new(&["limit"], Integer, "1000 packets (DEFAULT_CODEL_LIMIT)"),
    Opt::new(&["target"], Time, "5ms (codel_params_init)"),
    Opt::new(&["interval"], Time, "100ms (codel_params_init)"),
    Opt::new(&["ce_threshold"], Time, "none (CODEL_DISABLED_THRESHOLD)"),
    Opt::new(&["ecn"], Nothing, "off (codel_init)"),
    Opt::new(&["noecn"], Nothing, ""),
];

const FQ_CODEL: &[Opt] = &[
    Opt::new(&["limit"], Integer, "10240 packets (fq_codel_init)"),
    Opt::new(&["flows"], Integer, "1024 (fq_codel_init)"),
    Opt::new(&["quantum"], Integer, "MTU + 14, 1514 bytes (psched_mtu)"),
    Opt::new(&["target"], Time, "5ms (codel_params_init)"),
    Opt::new(&["interval"], Time, "100ms (codel_params_init)"),
    Opt::new(&["ce_threshold"], Time, "none (CODEL_DISABLED_THRESHOLD)"),
    Opt::new(&["ce_threshold_selector"], Masked, "0/0: all ECN-capable packets"),
    Opt::new(&["memory_limit"], Size, "32Mb (fq_codel_init)")
        .effect(NotModelledBut(&["32Mb", "32m", "33554432"], "perhop limits packets, not their memory")),
    Opt::new(&["drop_batch"], Integer, "64 (fq_codel_init)"),
    Opt::new(&["ecn"], Nothing, "on (fq_codel_init)"),
    Opt::new(&["noecn"], Nothing, ""),
];

const RATE_ESTIMATOR: &str = "perhop uses the waiting time of the last packet, the default since Linux 5.5";
const BYTE_MODE: &str = "with bytemode the probability depends on the packet length; in perhop it does not";

const PIE: &[Opt] = &[
    Opt::new(&["limit"], Integer, "1000 packets (pie_init)"),
    Opt::new(&["target"], Time, "15ms (pie_params_init)"),
    Opt::new(&["tupdate"], Time, "15ms (pie_params_init)"),
    Opt::new(&["alpha"], Integer, "2, in sixteenths (pie_params_init)"),
    Opt::new(&["beta"], Integer, "20, in sixteenths (pie_params_init)"),
    Opt::new(&["ecn"], Nothing, "off (pie_params_init)"),
    Opt::new(&["noecn"], Nothing, ""),
    Opt::new(&["bytemode"], Nothing, "off (pie_params_init)").effect(NotModelled(BYTE_MODE)),
    Opt::new(&["nobytemode"], Nothing, ""),
    Opt::new(&["dq_rate_estimator"], Nothing, "off (pie_params_init)").effect(NotModelled(RATE_ESTIMATOR)),
    Opt::new(&["no_dq_rate_estimator"], Nothing, ""),
];

const FQ_PIE: &[Opt] = &[
    Opt::new(&["limit"], Integer, "10240 packets (fq_pie_init)"),
    Opt::new(&["flows"], Integer, "1024 (fq_pie_init)"),
    Opt::new(&["target"], Time, "15ms (pie_params_init)"),
    Opt::new(&["tupdate"], Time, "15ms (pie_params_init)"),
    Opt::new(&["alpha"], Integer, "2, in sixteenths (pie_params_init)"),
    Opt::new(&["beta"], Integer, "20, in sixteenths (pie_params_init)"),
    Opt::new(&["quantum"], Size, "MTU + 14, 1514 bytes (psched_mtu)"),
    Opt::new(&["memory_limit"], Size, "32Mb (fq_pie_init)")
        .effect(NotModelledBut(&["32Mb", "32m", "33554432"], "perhop limits packets, not their memory")),
    Opt::new(&["ecn_prob"], Integer, "10 percent (fq_pie_init)"),
    Opt::new(&["ecn"], Nothing, "off (fq_pie_init)"),
    Opt::new(&["noecn"], Nothing, ""),
    Opt::new(&["bytemode"], Nothing, "off (pie_params_init)").effect(NotModelled(BYTE_MODE)),
    Opt::new(&["nobytemode"], Nothing, ""),
    Opt::new(&["dq_rate_estimator"], Nothing, "off (pie_params_init)").effect(NotModelled(RATE_ESTIMATOR)),
    Opt::new(&["no_dq_rate_estimator"], Nothing, ""),
];

const DUALPI2: &[Opt] = &[
    Opt::new(&["limit"], Integer, "10000 packets (dualpi2_reset_default)"),
    Opt::new(&["memlimit"], Integer, "limit × (MTU + 14) bytes (dualpi2_reset_default)")
        .effect(NotModelled("perhop limits packets, not their memory")),
    Opt::new(&["target"], Time, "15ms (dualpi2_reset_default)"),
    Opt::new(&["tupdate"], Time, "16ms (dualpi2_reset_default)"),
    Opt::new(&["alpha"], Fraction, "0.16, as 41/256 (dualpi2_reset_default)"),
    Opt::new(&["beta"], Fraction, "3.2, as 819/256 (dualpi2_reset_default)"),
    Opt::new(&["coupling_factor"], Integer, "2 (dualpi2_reset_default)"),
    Opt::new(&["step_thresh"], TimeOrPackets, "1ms (dualpi2_reset_default)"),
    Opt::new(&["min_qlen_step"], Integer, "0 packets (dualpi2_reset_default)"),
    Opt::new(&["max_rtt"], Time, "none: sets target, tupdate, alpha and beta (q_dualpi2.c)"),
    Opt::new(&["typical_rtt"], Time, "a sixth of max_rtt (q_dualpi2.c)"),
    Opt::new(&["classic_protection"], Percent, "10% (dualpi2_reset_default)"),
    Opt::new(&["drop_on_overload"], Nothing, "on (dualpi2_reset_default)"),
    Opt::new(&["overflow"], Nothing, "off")
        .effect(NotModelled("perhop drops on overload, the default of Linux")),
    Opt::new(&["drop_dequeue"], Nothing, "on (dualpi2_reset_default)"),
    Opt::new(&["drop_enqueue"], Nothing, "off").effect(NotModelled(
        "perhop marks and drops packets when they leave the queue, the default of Linux",
    )),
    Opt::new(&["l4s_ect"], Nothing, "on (TC_DUALPI2_ECN_MASK_L4S_ECT)"),
    Opt::new(&["any_ect"], Nothing, "off")
        .effect(NotModelled("in perhop only packets with ECT(1) and CE use the low-latency queue")),
    Opt::new(&["split_gso"], Nothing, "on (dualpi2_reset_default)")
        .effect(Irrelevant("perhop never joins packets, so it splits none")),
    Opt::new(&["no_split_gso"], Nothing, "off")
        .effect(Irrelevant("perhop never joins packets, so it splits none")),
];

const QEVENT: Opt = Opt::new(&["qevent"], Rest, "none").short();

const RED: &[Opt] = &[
    Opt::new(&["limit"], Size, "must be given"),
    Opt::new(&["min"], Size, "a third of max (red_parse_opt)"),
    Opt::new(&["max"], Size, "a quarter of limit, or three times min (red_parse_opt)"),
    Opt::new(&["avpkt"], Size, "must be given"),
    Opt::new(&["burst"], Integer, "(2·min + max) / (3·avpkt) (red_parse_opt)"),
    Opt::new(&["probability"], Fraction, "0.02 (red_parse_opt)"),
    Opt::new(&["bandwidth"], RateOrPercent, "10Mbit (red_parse_opt): only for idle times"),
    Opt::new(&["ecn"], Nothing, "off"),
    Opt::new(&["harddrop"], Nothing, "off: packets above max are marked too"),
    Opt::new(&["nodrop"], Nothing, "off")
        .effect(NotModelled("with nodrop Linux queues packets without ECN instead of dropping them early")),
    Opt::new(&["adaptive", "adaptative"], Nothing, "off")
        .effect(NotModelled("Linux adapts the probability to the average; perhop does not change it")),
    QEVENT.effect(Irrelevant("events run filters on dropped or marked packets")),
    Opt::new(&["ewma"], Integer, "").shown(),
    Opt::new(&["Plog"], Integer, "").shown().effect(Irrelevant(PER_PACKET)),
    Opt::new(&["Scell_log"], Integer, "").shown().effect(Irrelevant(PER_PACKET)),
];

const GRED: &[Opt] = &[
    Opt::new(&["setup"], Nothing, ""),
    Opt::new(&["vqs", "DPs"], Integer, "must be given with setup"),
    Opt::new(&["default"], Integer, "must be given with setup"),
    Opt::new(&["grio"], Nothing, "off"),
    Opt::new(&["vq", "DP"], Integer, "must be given without setup"),
    Opt::new(&["limit"], Size, "must be given"),
    Opt::new(&["min"], Size, "must be given"),
    Opt::new(&["max"], Size, "must be given"),
    Opt::new(&["avpkt"], Size, "must be given"),
    Opt::new(&["burst"], Integer, "(2·min + max) / (3·avpkt) (gred_parse_opt)"),
    Opt::new(&["probability"], Fraction, "0.02 (gred_parse_opt)"),
    Opt::new(&["prio"], Integer, "0; under grio the place of the queue"),
    Opt::new(&["bandwidth"], RateOrPercent, "10Mbit (gred_parse_opt): only for idle times"),
    Opt::new(&["ecn"], Nothing, "off"),
    Opt::new(&["harddrop"], Nothing, "off: packets above max are marked too"),
    Opt::new(&["ewma"], Integer, "").shown(),
    Opt::new(&["Plog"], Integer, "").shown().effect(Irrelevant(PER_PACKET)),
    Opt::new(&["Scell_log"], Integer, "").shown().effect(Irrelevant(PER_PACKET)),
];

const SFQ_RED: &str = "RED inside the queues of sfq";

const SFQ: &[Opt] = &[
    Opt::new(&["limit"], Integer, "127 packets (sfq_init: SFQ_MAX_DEPTH)"),
    Opt::new(&["depth"], Integer, "127 packets of a flow (sfq_init)"),
    Opt::new(&["divisor"], Integer, "1024 places of the hash (SFQ_DEFAULT_HASH_DIVISOR)"),
    Opt::new(&["flows"], Integer, "127, or 128 with limit and depth (SFQ_DEFAULT_FLOWS)"),
    Opt::new(&["quantum"], Size, "MTU + 14, 1514 bytes (psched_mtu)").effect(NotModelledBut(
        &["1514", "1514b", "1500", "1500b"],
        "perhop serves flows of sfq byte by byte, regardless of the quantum",
    )),
    Opt::new(&["perturb"], Integer, "0: never").effect(NotModelledBut(
        &["0", "0s", "0sec"],
        "the hash of perhop never changes, so no flow changes its queue",
    )),
    Opt::new(&["headdrop"], Nothing, "off")
        .effect(NotModelled("perhop drops the newest packet of the longest queue")),
    Opt::new(&["redflowlimit"], Integer, "off").effect(NotModelled(SFQ_RED)),
    Opt::new(&["min"], Integer, "").effect(NotModelled(SFQ_RED)),
    Opt::new(&["max"], Integer, "").effect(NotModelled(SFQ_RED)),
    Opt::new(&["burst"], Integer, "").effect(NotModelled(SFQ_RED)),
    Opt::new(&["avpkt"], Size, "").effect(NotModelled(SFQ_RED)),
    Opt::new(&["probability"], Fraction, "").effect(NotModelled(SFQ_RED)),
    Opt::new(&["ecn"], Nothing, "").effect(NotModelled(SFQ_RED)),
    Opt::new(&["harddrop"], Nothing, "").effect(NotModelled(SFQ_RED)),
];

const PEAK: &str = "perhop's shaper has one bucket; for a peak rate write a second tbf around this one";

const TBF: &[Opt] = &[
    Opt::new(&["rate"], RateOrPercent, "must be given").once(),
    Opt::new(&["burst", "buffer", "maxburst"], SizeAndCell, "must be given").once().short(),
    Opt::new(&["limit"], Size, "this or latency must be given").once().short(),
    Opt::new(&["latency"], Time, "limit = rate × latency + burst (tbf_parse_opt)").once().short(),
    Opt::new(&["lat"], Time, "").shown(),
    Opt::new(&["peakrate"], RateOrPercent, "none").once().short().effect(NotModelled(PEAK)),
    Opt::new(&["mtu", "minburst"], SizeAndCell, "2047 (tc_calc_rtable)")
        .once()
        .effect(Irrelevant("mtu belongs to peakrate, which perhop does not model")),
    Opt::new(&["mpu"], Size, "0")
        .effect(NotModelledBut(&["0", "0b"], "in perhop short packets count with their own length")),
    Opt::new(&["overhead"], Integer, "0").once().short(),
    Opt::new(&["linklayer"], Word, "ethernet").short().effect(NotModelledBut(
        &["ethernet"],
        "perhop's shaper does not count ATM cells: give the link `framing: aal5-snap`",
    )),
];
