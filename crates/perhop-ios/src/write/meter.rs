//! Writing of conditioners as `set` and `police`.

use perhop_device::Missing;
use perhop_qos::Color;
use perhop_qos::action::{Action, Outcome};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{ColorMode, MeterConfig, MeterScope};

use super::actions::{acting, ending, of_color, outcome, setting, steps};
use super::table_map::TableMaps;

/// The class-maps of the colors of arriving packets: `conform-color`, `exceed-color`.
pub(super) type ComingColors = Vec<(&'static str, String)>;

/// Whether a stage belongs to a nested policy, whose packets continue to the enclosing class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Outer,
    Inner,
}

/// Returns the lines of a class for one conditioner.
///
/// # Errors
/// The router has no such meter or action.
pub(super) fn stage_lines(
    stage: &ConditionerConfig,
    colors: &ComingColors,
    level: Level,
    tables: &mut TableMaps,
) -> Result<Vec<String>, Missing> {
    let stage = &if level == Level::Inner { sent_on(stage) } else { stage.clone() };
    if stage.per == MeterScope::Flow {
        return Err(Missing::new("meter per flow", "IOS has one policer for all flows of a class"));
    }
    if stage.shared.is_some() {
        return Err(Missing::new("meter of several classes", "each class of IOS has a policer of its own"));
    }
    let Some(meter) = &stage.meter else {
        let actions = if stage.actions.is_empty() { &stage.green } else { &stage.actions };
        return unmetered(actions, tables);
    };
    let (line, results) = police(meter, colors)?;
    let lists: Vec<&[Action]> = results.iter().map(|color| of_color(stage, *color)).collect();
    if lists.iter().any(|list| ending(list) == Outcome::Continue) {
        return Err(Missing::new(
            "continue after a policer",
            "IOS sends a packet after the policer of its class",
        ));
    }
    let shared = shared(&lists);
    let mut lines = Vec::new();
    for action in shared {
        lines.push(format!("set {}", setting(action, tables)?));
    }
    lines.push(line);
    for (word, list) in ["conform", "exceed", "violate"].iter().zip(&lists) {
        let own: Vec<&Action> = steps(list).iter().filter(|action| !shared.contains(action)).collect();
        if ending(list) == Outcome::Drop || own.is_empty() {
            lines.push(format!("  {word}-action {}", outcome(ending(list))));
            continue;
        }
        for action in own {
            lines.push(format!("  {word}-action {}", acting(action, tables)?));
        }
    }
    Ok(lines)
}

fn sent_on(stage: &ConditionerConfig) -> ConditionerConfig {
    let mut stage = stage.clone();
    for actions in [&mut stage.actions, &mut stage.green, &mut stage.yellow, &mut stage.red] {
        if let Some(last) = actions.last_mut().filter(|last| **last == Action::Continue) {
            *last = Action::Transmit;
        }
    }
    stage
}

fn unmetered(actions: &[Action], tables: &mut TableMaps) -> Result<Vec<String>, Missing> {
    match ending(actions) {
        Outcome::Drop => return Ok(vec!["drop".to_owned()]),
        Outcome::Continue if !steps(actions).is_empty() => {
            return Err(Missing::new("continue", "a packet belongs to one class of a policy"));
        }
        _ => {}
    }
    steps(actions).iter().map(|action| Ok(format!("set {}", setting(action, tables)?))).collect()
}

/// Returns the common prefix of the lists. The class sets these marks in addition to its policer.
fn shared<'a>(lists: &[&'a [Action]]) -> &'a [Action] {
    let Some(first) = lists.first() else { return &[] };
    let first = steps(first);
    let same = |index: &usize| lists.iter().all(|list| steps(list).get(*index) == first.get(*index));
    let count = (0..first.len()).take_while(same).count();
    &first[..count]
}

/// Returns the `police` line of a meter, and the colors that it distinguishes.
fn police(meter: &MeterConfig, colors: &ComingColors) -> Result<(String, Vec<Color>), Missing> {
    let all = vec![Color::GREEN, Color::YELLOW, Color::RED];
    let two_colors = |excess: Color| vec![Color::GREEN, Color::new(excess.index().min(2))];
    let words: Vec<String> = colors.iter().map(|(color, name)| format!(" {color} {name}")).collect();
    let words = words.concat();
    let check = |mode: ColorMode| {
        if mode == ColorMode::ColorBlind || !colors.is_empty() {
            return Ok(());
        }
        let reason = "conform-color requires class-maps, but no class-map matches colors";
        Err(Missing::new("a color-aware meter", reason).instead("write `mode: color-blind`"))
    };
    Ok(match meter {
        MeterConfig::TokenBucket(config) => {
            let (rate, burst) = (config.rate.as_bits_per_second(), config.burst.as_bytes());
            (format!("police cir {rate} bc {burst}"), two_colors(config.excess))
        }
        MeterConfig::PacketRate(config) => {
            let (rate, burst) = (config.rate.as_packets_per_second(), config.burst.count());
            (format!("police rate {rate} pps burst {burst} packets"), two_colors(config.excess))
        }
        MeterConfig::SingleRateTcm(config) => {
            check(config.mode)?;
            let (cir, bc, be) =
                (config.cir.as_bits_per_second(), config.cbs.as_bytes(), config.ebs.as_bytes());
            (format!("police cir {cir} bc {bc} be {be}{words}"), all)
        }
        MeterConfig::TwoRateTcm(config) => {
            check(config.mode)?;
            let (cir, pir) = (config.cir.as_bits_per_second(), config.pir.as_bits_per_second());
            let (bc, be) = (config.cbs.as_bytes(), config.pbs.as_bytes());
            (format!("police cir {cir} bc {bc} pir {pir} be {be}{words}"), all)
        }
        other => {
            let kind = serde_json::to_value(other).unwrap_or_default();
            let kind = kind.as_object().and_then(|fields| fields.keys().next().cloned()).unwrap_or_default();
            let reason = "policers of IOS are RFC 2697, RFC 2698 or one token bucket";
            return Err(Missing::new(format!("meter {kind}"), reason).instead("write one of these meters"));
        }
    })
}
