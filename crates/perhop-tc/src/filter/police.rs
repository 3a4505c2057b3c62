//! The action `police` (`tc/m_police.c`, `net/sched/act_police.c`).

use perhop_qos::ByteSize;

use super::control::{control, control_word};
use crate::kernel::Kernel;
use crate::model::{Action, Control, Police};
use crate::options::Argument::{Integer, Rate, Size, SizeAndCell, Word};
use crate::options::Effect::{Irrelevant, NotModelled, NotModelledBut};
use crate::options::{self, Opt, Options, Place};
use crate::rules;
use crate::words::{Words, abbreviates};

/// Options of a policer (`m_police.c`).
pub(crate) const POLICE: &[Opt] = &[
    Opt::new(&["rate"], Rate, "must be given, unless pkts_rate is"),
    Opt::new(&["burst", "buffer", "maxburst"], SizeAndCell, "must be given with rate").short(),
    Opt::new(&["pkts_rate"], Integer, "none").short(),
    Opt::new(&["pkts_burst"], Integer, "must be given with pkts_rate").short(),
    Opt::new(&["mtu", "minburst"], SizeAndCell, "2040: longer packets exceed (tcf_police_init)"),
    Opt::new(&["overhead"], Integer, "0").short(),
    Opt::new(&["index"], Integer, "a number of its own").short(),
    Opt::new(&["peakrate"], Rate, "none")
        .short()
        .effect(NotModelled("a policer has one bucket in perhop; write a second policer before it")),
    Opt::new(&["avrate"], Rate, "none").effect(NotModelled("perhop has no rate estimator for policers")),
    Opt::new(&["mpu"], Size, "0")
        .effect(NotModelledBut(&["0", "0b"], "in perhop short packets count with their own length")),
    Opt::new(&["linklayer"], Word, "ethernet")
        .short()
        .effect(NotModelledBut(&["ethernet"], "perhop's policers do not count ATM cells")),
    Opt::new(&["ref", "bind"], Integer, "").shown().effect(Irrelevant("counters")),
];

/// Reads the options of a policer, after the word `police`.
pub(crate) fn police(kernel: &mut Kernel, number: usize, words: &mut Words) -> Vec<Action> {
    // tc's default: `TC_POLICE_RECLASSIFY`.
    let (mut exceed, mut conform) = (Control::Reclassify, Control::Pass);
    let mut has_exceed_action = false;
    let mut read = Options::default();
    let mut unread = None;
    while let Some(word) = words.peek() {
        let is_option = |opt: &Opt| {
            opt.names.contains(&word)
                || opt.short && word.len() > 1 && opt.names.iter().any(|name| abbreviates(word, name))
        };
        if word == "conform-exceed" || word == "action" && words.is_shown() {
            words.next();
            has_exceed_action = true;
            let text = words.next().unwrap_or_default().to_owned();
            let (first, second) = text.split_once('/').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
            exceed = control(kernel, number, first, words).unwrap_or(exceed);
            let behind = second.map(str::to_owned).or_else(|| slash(words));
            if let Some(second) = behind {
                conform = control(kernel, number, &second, words).unwrap_or(conform);
            }
        } else if control_word(word) || word == "goto" {
            words.next();
            has_exceed_action = true;
            exceed = control(kernel, number, word, words).unwrap_or(exceed);
        } else if word == "flowid" || word == "classid" || !POLICE.iter().any(is_option) {
            break;
        } else {
            let mut once = words.split(2);
            // Policers whose index contains an unknown shell variable are the same policer if the text is the
            // same.
            if let (true, Some(text)) =
                (abbreviates(word, "index"), once.second().filter(|text| text.contains('$')))
            {
                unread = Some(numbered(text));
                continue;
            }
            let place = Place { line: number, of: "police" };
            let Ok(options) = options::read(&[POLICE], &mut once, place, |_| false, &mut kernel.log) else {
                words.rest();
                return vec![Action::Unseen];
            };
            if let Some(name) = options.names().first().filter(|name| read.has(name) && !words.is_shown()) {
                kernel.refuse(number, format!("`{name}` of police is written twice"));
                words.rest();
                return vec![Action::Unseen];
            }
            read.changed_by(options);
        }
    }
    let index = read.number("index").or(unread);
    if !is_whole(kernel, number, &read, index) {
        return vec![Action::Unseen];
    }
    if !has_exceed_action {
        let message =
            "the policer has no action for excess packets: tc uses reclassify, which ends in a drop";
        let linux = "Linux runs the filters four more times and then drops the packet. perhop drops the \
                     packet at once. Write drop";
        kernel.log.found(&rules::TC_POLICE_WITHOUT_ACTION, number, message, linux);
    }
    report_long_packets(kernel, number, &read);
    vec![Action::Police(Police { options: read, index, exceed, conform })]
}

/// The longest packet of segmentation offload, bytes.
const LONGEST: u64 = 65_536;
const JOINED: &str = "perhop counts TCP packets one by one; Linux counts packets that offloads (GSO, GRO) \
                      join as one";

/// Reports a burst that is smaller than the packets of segmentation offload.
///
/// GRO joins received packets up to 64 KiB (`net/ipv4/tcp_offload.c`). A sender joins the segments of one
/// millisecond (`net/ipv4/tcp_output.c`, `tcp_tso_autosize`). If the burst is smaller, TCP reaches only a few
/// percent of the rate.
fn report_long_packets(kernel: &mut Kernel, number: usize, police: &Options) {
    let (Some(rate), Some(burst)) = (police.rate("rate"), police.number("burst")) else { return };
    if burst >= LONGEST {
        return;
    }
    kernel.log.note(number, JOINED);
    let at_once = (rate / 8 / 1000).min(LONGEST);
    if burst >= at_once {
        let message = format!(
            "a policer with a burst of {}: offloads join TCP packets up to {}, which perhop does not model",
            ByteSize::from_bytes(burst),
            ByteSize::from_bytes(LONGEST)
        );
        // Since Linux 5.18, `tcf_police_mtu_check` compares each segment of a joined packet with `mtu`.
        let linux = "a joined packet longer than the burst never conforms, and before Linux 5.18 neither \
                     does a joined packet longer than `mtu`: TCP may be slower than in a run";
        return kernel.log.found(&rules::TC_POLICE_BURST_GRO, number, message, linux);
    }
    let message = format!(
        "a policer with a burst of {} at {}: TCP sends up to {} in one packet, which perhop does not model",
        ByteSize::from_bytes(burst),
        perhop_qos::Rate::from_bits_per_second(rate),
        ByteSize::from_bytes(at_once)
    );
    let linux = "with segmentation offload (GSO, GRO), TCP reaches only a few percent of the rate: write a \
                 larger burst, or limit the rate in a class";
    kernel.log.found(&rules::TC_POLICE_BURST_OFFLOAD, number, message, linux);
}

/// Whether the options fulfill the requirements of tc that concern several options of a policer. Reports
/// faults.
fn is_whole(kernel: &mut Kernel, number: usize, read: &Options, index: Option<u64>) -> bool {
    if !read.has("rate") && !read.has("pkts_rate") && index.is_none() {
        if !read.has("avrate") {
            kernel.refuse(number, "a policer must have `rate` or `pkts_rate`");
        }
        return false;
    }
    if read.has("rate") && read.has("pkts_rate") {
        kernel.refuse(
            number,
            "a policer accepts `rate` or `pkts_rate`, but not both: write two policers in sequence",
        );
        return false;
    }
    if read.has("rate") && !read.has("burst") {
        kernel.refuse(number, "a policer with `rate` must have `burst`");
        return false;
    }
    true
}

/// Returns a number for the text of an index (FNV-1a) that is above all numbers that tc accepts.
fn numbered(text: &str) -> u64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step) | 1 << 63
}

/// Reads `/` and the action for conforming packets after the action for exceeding packets: `/ pipe`.
fn slash(words: &mut Words) -> Option<String> {
    let next = words.peek()?.strip_prefix('/')?.to_owned();
    words.next();
    if next.is_empty() { words.next().map(str::to_owned) } else { Some(next) }
}
