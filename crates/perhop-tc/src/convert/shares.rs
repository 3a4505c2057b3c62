//! Conversion of the shares of `htb`, `hfsc` and `drr` classes.

use perhop_device::intent::{At, Guarantee};
use perhop_qos::scheduler::{Cells, LinkLayerConfig, SchedulerConfig, ServiceCurveConfig, ShareConfig};
use perhop_qos::{ByteSize, Rate, Time};

use super::branch::{Demands, shaper};
use super::htb_turns::LAST_PRIORITY;
use super::tree::Tree;
use crate::model::Class;
use crate::options::{Curve, Value};

impl Tree<'_> {
    /// Returns the share of a class.
    pub(super) fn share(&mut self, scheduler: SchedulerConfig, class: &Class, is_leaf: bool) -> ShareConfig {
        match scheduler {
            SchedulerConfig::Drr => {
                let quantum = class.options.number("quantum").unwrap_or_else(|| self.device.frame());
                ShareConfig { quantum: Some(ByteSize::from_bytes(quantum.max(1))), ..ShareConfig::default() }
            }
            SchedulerConfig::Htb => self.buckets(class, is_leaf),
            _ => self.curves(class, is_leaf),
        }
    }

    /// Returns the demands of a class: guarantee, share of the excess, and maximum.
    pub(super) fn demands(&self, scheduler: SchedulerConfig, class: &Class, is_leaf: bool) -> Demands {
        let options = &class.options;
        let positive = |name: &str| options.rate(name).filter(|rate| *rate > 0);
        let curve = |name: &str| match options.value(name) {
            Some(Value::Curve(curve)) => Some(*curve),
            _ => None,
        };
        let both = curve("sc");
        let link_share = curve("ls").or(both);
        let (guarantee, most) = match scheduler {
            SchedulerConfig::Drr => {
                let quantum = options.number("quantum").unwrap_or_else(|| self.device.frame());
                (Some(Guarantee::RemainingRatio(quantum.max(1))), None)
            }
            SchedulerConfig::Htb => {
                let rate = positive("rate");
                (rate.map(Guarantee::BitsPerSecond), positive("ceil").or(rate))
            }
            _ => {
                let real_time = curve("rt").or(both).filter(|_| is_leaf);
                let promised = real_time.map(|curve| Guarantee::BitsPerSecond(curve.then));
                let part = link_share.map(|curve| Guarantee::RemainingRatio(curve.then));
                (promised.or(part), curve("ul").filter(|_| link_share.is_some()).map(|curve| curve.then))
            }
        };
        Demands {
            guarantee: guarantee.map(|guarantee| At::new(class.line, guarantee)),
            shape: most.map(|rate| At::new(class.line, shaper(rate, None))),
            ..Demands::at(class.line)
        }
    }

    /// Returns the token buckets of an htb class (`q_htb.c:htb_parse_class_opt`, `htb_change_class`).
    fn buckets(&mut self, class: &Class, is_leaf: bool) -> ShareConfig {
        let options = &class.options;
        let rate = self.rate(class.line, options, "rate");
        let ceil = self.rate(class.line, options, "ceil").or(rate);
        if class.parent.is_none() {
            self.bandwidth = self.bandwidth.max(ceil.map(Rate::from_bits_per_second));
        }
        // tc uses the bytes of one nanosecond (its tick) at the rate, and a packet of `mtu` bytes.
        let mtu = options.number("mtu");
        let by_mtu = |rate: Option<u64>| Some(mtu? + rate? / 8 / 1_000_000_000);
        let bytes =
            |name: &str, rate| options.number(name).or_else(|| by_mtu(rate)).map(ByteSize::from_bytes);
        let of_leaf = |name: &str| options.number(name).filter(|number| is_leaf && *number > 0);
        if !is_leaf && (options.has("prio") || options.has("quantum")) {
            self.log.note(class.line, "Linux ignores prio and quantum of a class that has child classes");
        }
        ShareConfig {
            rate: rate.map(Rate::from_bits_per_second),
            ceil: ceil.filter(|_| options.has("ceil")).map(Rate::from_bits_per_second),
            burst: bytes("burst", rate),
            ceil_burst: bytes("cburst", ceil),
            // `htb_change_class`.
            level: of_leaf("prio").map(|level| level.min(LAST_PRIORITY) as u16),
            quantum: of_leaf("quantum").map(ByteSize::from_bytes),
            link_layer: self.link_layer(class),
            ..ShareConfig::default()
        }
    }

    fn link_layer(&mut self, class: &Class) -> Option<LinkLayerConfig> {
        let small = |name: &str| class.options.number(name).unwrap_or(0).min(65_535) as u16;
        let cells = match class.options.value("linklayer") {
            Some(Value::Word(word)) if matches!(word.as_str(), "atm" | "adsl") => Cells::Atm,
            Some(Value::Word(word)) if word != "ethernet" => {
                self.log.not_modelled(
                    class.line,
                    format!("`linklayer {word}` is not modeled: write ethernet or atm"),
                );
                Cells::None
            }
            _ => Cells::None,
        };
        let found = LinkLayerConfig { overhead: small("overhead"), minimum_packet_unit: small("mpu"), cells };
        (found != LinkLayerConfig::default()).then_some(found)
    }

    fn curves(&mut self, class: &Class, is_leaf: bool) -> ShareConfig {
        let curve = |name: &str| match class.options.value(name) {
            Some(Value::Curve(curve)) => Some(service_curve(*curve)),
            _ => None,
        };
        let both = curve("sc");
        let real_time = curve("rt").or(both);
        if real_time.is_some() && !is_leaf {
            self.log.note(
                class.line,
                "Linux ignores rt of a class that has child classes: only leaf classes have deadlines",
            );
        }
        let link_share = curve("ls").or(both);
        let upper_limit = curve("ul");
        if let Some(limit) = upper_limit.filter(|_| class.parent.is_none()) {
            self.bandwidth.get_or_insert(limit.m2);
        }
        if upper_limit.is_some() && link_share.is_none() {
            self.log.note(class.line, "`ul` limits link sharing, so without `ls` it has no effect");
        }
        ShareConfig {
            real_time: real_time.filter(|_| is_leaf),
            link_share,
            upper_limit: upper_limit.filter(|_| link_share.is_some()),
            ..ShareConfig::default()
        }
    }
}

fn service_curve(curve: Curve) -> ServiceCurveConfig {
    let has_first = curve.lasts > Time::ZERO;
    ServiceCurveConfig {
        m1: has_first.then(|| Rate::from_bits_per_second(curve.first)),
        d: has_first.then_some(curve.lasts),
        m2: Rate::from_bits_per_second(curve.then),
    }
}
