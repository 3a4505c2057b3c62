//! Builds the classes of CBQ from a policy.

use super::estimator::{Estimator, burst_idle, byte_at};
use super::{Cbq, Class, LEAF, Parent, Ring};
use crate::error::ConfigError;
use crate::policy::{ClassConfig, QueueingConfig};
use crate::scheduler::config::{LinkSharingConfig, SchedulerConfig, ShareConfig, Turns};
use crate::scheduler::share::{Takes, error_in};
use crate::units::{Rate, Time};

const TAKES: Takes = Takes {
    scheduler: "cbq",
    shares: &["fraction", "bandwidth", "level", "borrow", "max-idle", "extra-delay"],
    help: "cbq accepts the key fraction (of the wire) or bandwidth, and the keys level (0 is served first), borrow, max-idle and \
           extra-delay",
};

/// The number of packets that a class of the first level may send in a burst after a silence. A class of the
/// second level may send twice as many, and so on. ns-2 uses 8 times the number of the priority, which begins
/// at 1.
const BURST: u32 = 8;
/// The maximum number of nested levels of classes.
const DEEPEST: usize = 32;

impl Cbq {
    /// Builds the scheduler of `classes` and of the CBQ classes inside them.
    pub(in crate::scheduler) fn build(
        sharing: LinkSharingConfig,
        classes: &[ClassConfig],
        rate: Rate,
    ) -> Result<Cbq, ConfigError> {
        let longest = sharing.longest_packet.as_bytes();
        if !(1..=u64::from(u16::MAX)).contains(&longest) {
            return Err(ConfigError::new(
                "longest-packet",
                format!("a longest packet of {longest} bytes is out of range"),
            )
            .help("1B to 65535B, for example 1500B")
            .within("link-sharing"));
        }
        let mut built = Built { leaves: Vec::new(), inner: Vec::new(), rate, longest };
        built.add(classes, None, 0)?;
        let Built { leaves, inner, .. } = built;
        let wire_height = 1 + highest(&leaves, &inner, None);
        let leaf_count = leaves.len();
        let mut made: Vec<Class> =
            leaves.into_iter().chain(inner).map(|(class, _)| class.with_parent_after(leaf_count)).collect();
        let rings = rings(&mut made[..leaf_count], longest);
        Ok(Cbq {
            byte: byte_at(rate, 1.0),
            guideline: sharing.guideline,
            is_weighted: sharing.turns == Turns::Weighted,
            leaves: leaf_count,
            classes: made,
            wire_height,
            rings,
            decision: None,
            top_level: u8::MAX,
            lowest_unsatisfied: None,
            held_until: None,
        })
    }
}

/// The height of the highest class directly inside `parent`, which is an inner class or the wire (`None`).
fn highest(leaves: &[(Class, f64)], inner: &[(Class, f64)], parent: Option<u16>) -> u8 {
    let parent = parent.map_or(Parent::Wire, Parent::Class);
    let inside = leaves.iter().chain(inner).filter(|(class, _)| class.parent == parent);
    inside.map(|(class, _)| class.height).max().unwrap_or(LEAF)
}

/// Classes, each with its configured fraction.
struct Built {
    leaves: Vec<(Class, f64)>,
    inner: Vec<(Class, f64)>,
    rate: Rate,
    longest: u64,
}

impl Built {
    /// Adds the classes of one level of the policy, inside the inner class `parent`.
    fn add(&mut self, classes: &[ClassConfig], parent: Option<u16>, depth: usize) -> Result<(), ConfigError> {
        TAKES.check(classes)?;
        for (index, config) in classes.iter().enumerate() {
            let share = &config.share;
            let fraction = fraction(index, share, self.rate)?;
            let class = self.class(config, fraction, parent);
            let Some(inside) = config.link_shared(SchedulerConfig::Cbq) else {
                self.leaves.push((class, fraction));
                continue;
            };
            check_inner(index, config, inside, depth)?;
            let number = self.inner.len() as u16;
            self.inner.push((class, fraction));
            self.add(&inside.classes, Some(number), depth + 1)
                .map_err(|error| error.within("queueing").within(index).within("classes"))?;
            self.inner[usize::from(number)].0.height = 1 + highest(&self.leaves, &self.inner, Some(number));
        }
        Ok(())
    }

    fn class(&self, config: &ClassConfig, fraction: f64, parent: Option<u16>) -> Class {
        let share = &config.share;
        let level = share.level.unwrap_or(0);
        let takes = self.rate.transmission_time(self.longest);
        let packets = BURST.saturating_mul(u32::from(level).saturating_add(1)).min(1024);
        let max_idle = share.max_idle.unwrap_or_else(|| burst_idle(takes, fraction, packets));
        let byte = match share.bandwidth {
            Some(bandwidth) => byte_at(bandwidth, 1.0),
            None => byte_at(self.rate, fraction),
        };
        Class {
            parent: parent.map_or(Parent::Wire, Parent::Class),
            may_borrow: share.borrow.unwrap_or(true),
            height: LEAF,
            estimator: Estimator::new(byte, max_idle, share.extra_delay.unwrap_or(Time::ZERO)),
            level,
            fraction,
            quantum: 0,
            credit: 0,
            waiting: 0,
            is_refused: false,
            wants_below: false,
        }
    }
}

/// Checks that a class with inner classes has only an allotment.
fn check_inner(
    index: usize,
    config: &ClassConfig,
    inside: &QueueingConfig,
    depth: usize,
) -> Result<(), ConfigError> {
    let at = |key: &str, message: &str| ConfigError::new(key, message).within(index).within("classes");
    if config.share.level.is_some() {
        return Err(error_in(index, "level", "a class with cbq inside has no level")
            .help("write the level in its inner classes"));
    }
    if config.shape.is_some() {
        return Err(at("shape", "a class with cbq inside cannot have a shaper")
            .help("limit it by its fraction with `borrow: false`"));
    }
    if inside.link_sharing.is_some() {
        return Err(at("link-sharing", "only the outermost cbq has link-sharing")
            .help("write it next to the outermost `scheduler: cbq`"));
    }
    if depth + 1 >= DEEPEST {
        return Err(at("queueing", "classes are nested too deeply").help("up to 32"));
    }
    Ok(())
}

/// The fraction of `rate` that is configured for class `index`.
fn fraction(index: usize, share: &ShareConfig, rate: Rate) -> Result<f64, ConfigError> {
    let (key, fraction) = match (share.fraction, share.bandwidth) {
        (Some(_), Some(_)) => {
            return Err(error_in(
                index,
                "fraction",
                "fraction and bandwidth are both set: a class has one allotment",
            )
            .help("write either of them"));
        }
        (None, None) => {
            return Err(
                error_in(index, "", "the class has no allotment").help("write its fraction, for example 0.3")
            );
        }
        (Some(fraction), None) => ("fraction", fraction),
        (None, Some(bandwidth)) => {
            ("bandwidth", bandwidth.as_bits_per_second() as f64 / rate.as_bits_per_second() as f64)
        }
    };
    if !(1e-6..=1.0).contains(&fraction) {
        let message = format!("an allotment of {fraction} of the wire is out of range");
        return Err(error_in(index, key, message)
            .help("use from a millionth of the rate of the wire to the whole rate"));
    }
    Ok(fraction)
}

/// Returns the classes with queues of each level in their order, and sets their quanta (`setM` of ns-2). The
/// quanta of a level add up to one longest packet for each class. They are in proportion to the allotments.
fn rings(leaves: &mut [Class], longest: u64) -> Vec<Ring> {
    let mut levels: Vec<u16> = leaves.iter().map(|class| class.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let ring = |level: u16| {
        let members: Vec<u16> =
            (0..leaves.len() as u16).filter(|leaf| leaves[usize::from(*leaf)].level == level).collect();
        let sum: f64 = members.iter().map(|leaf| leaves[usize::from(*leaf)].fraction).sum();
        let round = (members.len() as u64 * longest) as f64 / sum;
        for leaf in &members {
            let class = &mut leaves[usize::from(*leaf)];
            class.quantum = (class.fraction * round) as i64;
        }
        Ring { members, turn: 0 }
    };
    levels.into_iter().map(ring).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::scheduler::SchedulerTree;

    fn refused(classes: &Value) -> ConfigError {
        refused_policy(&json!({ "scheduler": "cbq", "classes": classes }))
    }
    fn refused_policy(policy: &Value) -> ConfigError {
        let config: QueueingConfig = serde_json::from_value(policy.clone()).unwrap();
        SchedulerTree::build(&config, Rate::from_bits_per_second(8_000_000)).expect_err("must be refused")
    }

    #[test]
    fn every_class_has_one_allotment_of_the_wire() {
        let with = |share: Value| refused(&json!([{ "name": "a", "share": share }]));
        assert!(with(json!({})).message.contains("the class has no allotment"));
        assert!(with(json!({ "weight": 1 })).message.contains("weight has no meaning under cbq"));
        let both = with(json!({ "fraction": 0.5, "bandwidth": "1Mb/s" }));
        assert!(both.message.contains("fraction and bandwidth are both set"));
        for (key, wrong) in [("fraction", json!(0)), ("fraction", json!(1.5)), ("bandwidth", json!("9Mb/s"))]
        {
            let error = with(json!({ key: wrong }));
            assert_eq!(error.path, ["classes", "0", "share", key]);
            assert!(error.help.unwrap().contains("millionth"));
        }
    }

    #[test]
    fn a_class_with_inner_classes_has_only_an_allotment() {
        let with = |key: &str, value: Value| {
            let inside =
                json!({ "scheduler": "cbq", "classes": [{ "name": "a", "share": { "fraction": 0.1 } }] });
            let mut class = json!({ "name": "A", "share": { "fraction": 0.5 }, "queueing": inside });
            match key {
                "level" => class["share"]["level"] = value,
                "link-sharing" => class["queueing"]["link-sharing"] = value,
                _ => class["shape"] = value,
            }
            refused(&json!([class]))
        };
        assert_eq!(with("level", json!(1)).path, ["classes", "0", "share", "level"]);
        assert_eq!(with("shape", json!({ "rate": "1Mb/s", "burst": "2kB" })).path, ["classes", "0", "shape"]);
        assert!(with("link-sharing", json!({})).message.contains("only the outermost cbq"));
    }

    #[test]
    fn an_inner_error_has_its_path() {
        let inside = json!({ "scheduler": "cbq", "classes": [{ "name": "a" }] });
        let error = refused(&json!([{ "name": "A", "share": { "fraction": 0.5 }, "queueing": inside }]));
        assert_eq!(error.path, ["classes", "0", "queueing", "classes", "0", "share"]);
    }

    #[test]
    fn a_fluid_model_cannot_hold_classes_back() {
        let share = json!({ "fraction": 0.5, "borrow": false });
        let inside = json!({ "scheduler": "cbq", "classes": [{ "name": "a", "share": share }] });
        let classes = json!([{ "name": "A", "queueing": inside }, { "name": "b" }]);
        let error = refused_policy(&json!({ "scheduler": "wfq", "classes": classes }));
        assert!(error.message.contains("may not borrow") && error.path[..2] == ["classes", "0"]);
    }

    #[test]
    fn only_cbq_has_guidelines() {
        let classes = json!([{ "name": "a" }]);
        let error = refused_policy(&json!({ "scheduler": "drr", "link-sharing": {}, "classes": classes }));
        assert_eq!(error.path, ["link-sharing"]);
        let sharing = json!({ "longest-packet": "0B" });
        let error =
            refused_policy(&json!({ "scheduler": "cbq", "link-sharing": sharing, "classes": classes }));
        assert_eq!(error.path, ["link-sharing", "longest-packet"]);
    }
}
