//! `tc qdisc`: the effect and the errors of the command in the kernel (`net/sched/sch_api.c`).

use perhop_lint::LineState;

use super::head::{Head, head, kind_of};
use crate::kernel::Kernel;
use crate::model::{HOOKS, Place, Qdisc};
use crate::options::{self, Options, Place as At, Trouble, Value};
use crate::rules;
use crate::syntax::{EXCLUSIVE, Kind, Model, RTT_PRESETS};
use crate::units;
use crate::words::Words;

/// Reads the options of `kind`, and reports findings about the kind.
fn options_of(
    kernel: &mut Kernel,
    number: usize,
    kind: &'static Kind,
    words: &mut Words,
) -> Result<Options, Trouble> {
    match kind.model {
        Model::Modelled(_) => {}
        Model::NotModelled(why) => {
            let held = if kind.name == "netem" { netem_limit(words) } else { None };
            let held = held.map_or_else(String::new, |held| format!("; {held}"));
            kernel.log.not_modelled(number, format!("{}: {why}{held}", kind.name));
        }
        Model::Irrelevant(why) => kernel.log.note(number, why),
    }
    // The table of such a kind has no options, because perhop knows only its name.
    if kind.options.is_empty() && matches!(kind.model, Model::NotModelled(_)) {
        return Ok(Options::default());
    }
    options::read(&[kind.options], words, At { line: number, of: kind.name }, |_| false, &mut kernel.log)
}

/// Returns a note on the limit of a netem with a delay. The queue has at most `limit` delayed packets at a
/// time, so Linux drops packets above the rate limit / delay (Linux `net/sched/sch_netem.c`, `netem_enqueue`;
/// tc-netem(8): 1000 packets by default).
fn netem_limit(words: &Words) -> Option<String> {
    let delay = units::time(words.value_after("delay")?)?;
    let limit = words.value_after("limit").map_or(Some(1000), |text| text.parse::<u64>().ok())?;
    let seconds = delay.as_seconds();
    (seconds > 0.0).then(|| {
        let (delay_ms, per_second) = (seconds * 1e3, limit as f64 / seconds);
        format!(
            "in Linux, netem delays at most {limit} packets at a time, each for {delay_ms} ms, so it drops \
             packets above {per_second:.0} packets/s"
        )
    })
}

pub(crate) fn qdisc(kernel: &mut Kernel, number: usize, verb: &str, words: &mut Words) {
    let Some(head) = head(kernel, number, "qdisc", words) else { return };
    let Some(name) = head.device else {
        return kernel.refuse(number, "the command names no device: write dev NAME");
    };
    let device = kernel.device(name, number);
    let place = match head.parent {
        None => None,
        Some(units::ROOT) => Some(Place::Root),
        Some(HOOKS..) => Some(Place::Hooks),
        Some(id) => Some(Place::Class(id)),
    };
    if verb == "delete" {
        return delete_qdisc(kernel, number, device, place, head.handle);
    }
    let handle = head.handle;
    set_qdisc(kernel, number, verb, (device, place, head), words);
    let known = &mut kernel.devices[device];
    if let Some(handle) = handle
        && !known.qdiscs.iter().any(|qdisc| qdisc.handle == handle)
    {
        known.without_effect.insert(handle, number);
    }
}

/// Adds or changes a discipline.
fn set_qdisc(
    kernel: &mut Kernel,
    number: usize,
    verb: &str,
    (device, place, head): (usize, Option<Place>, Head),
    words: &mut Words,
) {
    let existing = place.and_then(|place| kernel.devices[device].at(place));
    let named = head.kind;
    let kind = match named {
        Some(name) => match kind_of(kernel, number, name) {
            Some(kind) => kind,
            None => return,
        },
        None => match existing {
            Some(index) => kernel.devices[device].qdiscs[index].kind,
            None => {
                return kernel
                    .refuse(number, "the command has no kind of queueing discipline, for example fq_codel");
            }
        },
    };
    let place = match (place, kind.name) {
        (_, "ingress" | "clsact") => Place::Hooks,
        (Some(place), _) => place,
        (None, _) => {
            return kernel.refuse(
                number,
                "the command names no place for the discipline: write root, or parent CLASS",
            );
        }
    };
    let Ok(options) = options_of(kernel, number, kind, words) else { return };
    if !is_right(kernel, number, kind, &options) {
        return;
    }
    let new = Qdisc {
        kind,
        handle: if place == Place::Hooks { HOOKS } else { head.handle.unwrap_or(0) },
        place,
        line: number,
        options,
        stab: head.stab,
        classes: Vec::new(),
        filters: Vec::new(),
        rows: Vec::new(),
    };
    put(kernel, number, device, verb, new);
}

/// Whether the options fulfill the requirements of tc that concern several options of a command. Reports
/// faults.
fn is_right(kernel: &mut Kernel, number: usize, kind: &Kind, options: &Options) -> bool {
    let missing = |names: &[&'static str]| names.iter().find(|name| !options.has(name)).copied();
    let wanted = match kind.name {
        "tbf" => missing(&["rate", "burst"]).or_else(|| {
            let has = ["limit", "latency", "lat"].iter().any(|name| options.has(name));
            (!has).then_some("limit` or `latency")
        }),
        "red" if options.number("limit") == Some(0) => Some("limit"),
        "red" => missing(&["limit", "avpkt"]),
        "gred" if options.has("setup") => missing(&["vqs", "default"]),
        "gred" => missing(&["vq", "limit", "min", "max", "avpkt"]),
        _ => None,
    };
    if let Some(name) = wanted {
        kernel.refuse_by_tc(number, format!("{} must have `{name}`", kind.name));
        return false;
    }
    if kind.name == "tbf" && options.has("limit") && options.has("latency") {
        kernel.refuse_by_tc(number, "tbf accepts `limit` or `latency`, but not both");
        return false;
    }
    if kind.name == "tbf" && options.has("peakrate") && !options.has("mtu") {
        kernel.refuse_by_tc(number, "tbf with `peakrate` must have `mtu`");
        return false;
    }
    let bands = options.number("bands").unwrap_or(3).max(1);
    if let (Some(Value::Numbers(map)), "prio") = (options.value("priomap"), kind.name)
        && let Some(band) = map.iter().find(|band| **band >= bands)
    {
        kernel.refuse(
            number,
            format!("`priomap` names band {band}, but the last of {bands} bands is {}", bands - 1),
        );
        return false;
    }
    kind.name != "cake" || is_right_cake(kernel, number, options)
}

/// Whether the options of cake are valid (`q_cake.c:cake_parse_opt`): at most one round-trip preset, and
/// overhead and mpu within their limits. Reports faults. If keywords exclude each other, the last keyword
/// applies.
fn is_right_cake(kernel: &mut Kernel, number: usize, options: &Options) -> bool {
    let given = |names: &[&str]| -> Vec<&'static str> {
        options.names().iter().filter(|name| names.contains(*name)).copied().collect()
    };
    let presets = given(&RTT_PRESETS);
    if let [first, second, ..] = presets.as_slice() {
        let message = format!("cake accepts only one of `{first}` and `{second}`: both set `rtt`");
        kernel.refuse_by_tc(number, message);
        return false;
    }
    let overhead = match options.value("overhead") {
        Some(Value::Signed(bytes)) => *bytes,
        _ => 0,
    };
    if !(-64..=256).contains(&overhead) {
        let message = format!("`overhead {overhead}` of cake: write a number from -64 to 256");
        kernel.refuse_by_tc(number, message);
        return false;
    }
    if let Some(mpu) = options.number("mpu").filter(|mpu| *mpu > 256) {
        kernel.refuse_by_tc(number, format!("`mpu {mpu}` of cake: write a number from 0 to 256"));
        return false;
    }
    for group in EXCLUSIVE {
        let names = given(group);
        if let [others @ .., last] = names.as_slice()
            && !others.is_empty()
        {
            let message = format!("`{last}` overrides `{}`", others.join("`, `"));
            kernel.log.found(&rules::TC_OPTION_OVERRIDDEN, number, message, "tc applies the last one");
        }
    }
    true
}

/// Adds a discipline at its place, or changes the discipline that exists there.
fn put(kernel: &mut Kernel, number: usize, device: usize, verb: &str, mut new: Qdisc) {
    if let Place::Class(id) = new.place
        && !has_class(kernel, device, id)
    {
        let message = without_class(kernel, device, id);
        return kernel.refuse(number, message);
    }
    let known = &mut kernel.devices[device];
    match known.at(new.place) {
        Some(index) => {
            let old = &mut known.qdiscs[index];
            let is_same = old.kind.name == new.kind.name && (new.handle == 0 || new.handle == old.handle);
            match verb {
                "add" => {
                    let message = format!(
                        "there is already {} of line {}: delete it first, or write replace",
                        old.kind.name, old.line
                    );
                    return kernel.refuse(number, message);
                }
                "change" | "link" if !is_same => {
                    let message =
                        format!("{} of line {} cannot change to {}", old.kind.name, old.line, new.kind.name);
                    return kernel.refuse(number, message);
                }
                _ if is_same && new.kind.name == "gred" && new.options.has("vq") => {
                    old.rows.push((number, new.options));
                    return;
                }
                _ if is_same => {
                    old.options.changed_by(new.options);
                    old.stab = new.stab.or(old.stab.take());
                    kernel.log.note(number, format!("changes line {}", old.line));
                    return;
                }
                _ => {
                    for line in known.remove(index) {
                        kernel.log.taken_back(line, number);
                    }
                }
            }
        }
        None if verb == "change" || verb == "link" => {
            let message = format!(
                "{} has no qdisc at {} that `{verb}` could change: write `add` or `replace`",
                known.name,
                shown_place(new.place)
            );
            return kernel.refuse(number, message);
        }
        None => {}
    }
    let known = &mut kernel.devices[device];
    if new.handle == 0 {
        new.handle = known.free_handle();
    }
    if let Some(other) = known.qdiscs.iter().find(|qdisc| qdisc.handle == new.handle) {
        let (shown, line) = (units::shown_id(new.handle), other.line);
        return kernel.refuse(number, format!("line {line} already has the number {shown}"));
    }
    kernel.devices[device].qdiscs.push(new);
}

/// Returns that a device has no class `id`, and the reason: the missing discipline, or the known classes.
pub(super) fn without_class(kernel: &Kernel, device: usize, id: u32) -> String {
    let (known, shown) = (&kernel.devices[device], units::shown_id(id));
    let name = &known.name;
    let Some(index) = known.of_major(id) else {
        let without = known.without_qdisc(id & 0xffff_0000);
        return format!("{name} has no class {shown}, because {without}");
    };
    let qdisc = &known.qdiscs[index];
    let classes: Vec<String> =
        qdisc.classes.iter().take(MOST_LISTED).map(|class| units::shown_id(class.id)).collect();
    if classes.is_empty() {
        let bands = qdisc.options.number("bands").filter(|_| qdisc.kind.name == "prio");
        let bands = bands.map_or_else(String::new, |bands| format!(" with {bands} bands"));
        return format!("{name} has no class {shown} in {} of line {}{bands}", qdisc.kind.name, qdisc.line);
    }
    format!("{name} has no class {shown}; classes of this qdisc are {}", classes.join(", "))
}

/// Limit on the number of classes that a message lists.
const MOST_LISTED: usize = 16;

/// Returns a place as in commands of tc.
fn shown_place(place: Place) -> String {
    match place {
        Place::Root => "root".to_owned(),
        Place::Hooks => "ingress".to_owned(),
        Place::Class(id) => format!("parent {}", units::shown_id(id)),
    }
}

/// Whether a discipline can be attached to the class `id`.
fn has_class(kernel: &Kernel, device: usize, id: u32) -> bool {
    let known = &kernel.devices[device];
    let Some(index) = known.of_major(id) else { return false };
    let qdisc = &known.qdiscs[index];
    let minor = u64::from(id & 0xffff);
    match qdisc.kind.name {
        "prio" => (1..=qdisc.options.number("bands").unwrap_or(3)).contains(&minor),
        "ets" => (1..=16).contains(&minor),
        // TBF, RED and other kinds have one class, and Linux does not check its number.
        "tbf" | "red" | "netem" | "mq" | "mqprio" | "multiq" | "sfb" | "choke" | "cbs" | "etf" | "taprio" => {
            true
        }
        _ if qdisc.kind.options.is_empty() && qdisc.kind.class.is_some_and(<[_]>::is_empty) => true,
        _ => qdisc.class(id).is_some(),
    }
}

fn delete_qdisc(
    kernel: &mut Kernel,
    number: usize,
    device: usize,
    place: Option<Place>,
    handle: Option<u32>,
) {
    let known = &mut kernel.devices[device];
    let by_handle = || handle.and_then(|handle| known.qdiscs.iter().position(|qdisc| qdisc.handle == handle));
    let index = place.map_or_else(by_handle, |place| known.at(place));
    let Some(index) = index else {
        let at = place.map_or_else(
            || units::shown_id(handle.unwrap_or(0)),
            |place| format!("at {}", shown_place(place)),
        );
        let note = format!("{} has no qdisc {at} that the command could delete", known.name);
        kernel.log.state(number, LineState::Irrelevant);
        return kernel.log.note(number, note);
    };
    for line in known.remove(index) {
        kernel.log.taken_back(line, number);
    }
    kernel.log.state(number, LineState::Modelled);
}
