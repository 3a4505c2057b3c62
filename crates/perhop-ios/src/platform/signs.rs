//! [`Sign`]: properties of the router that single lines of a configuration reveal.

use std::collections::BTreeMap;

use perhop_lint::Line;
use serde::Serialize;

use crate::ast::Configuration;
use crate::grammar::{Grammar, is_of_ios_xr, is_of_nx_os};
use crate::nexus;
use crate::silicon_one::has_silicon_one;

/// A line that reveals a property of the router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The line, from 1.
    pub line: usize,
    /// The trimmed text of the line.
    pub text: String,
    /// The revealed property.
    pub says: &'static str,
}

/// A property of the router that a line of the configuration reveals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    NxOs,
    IosXr,
    /// A product with IOS XR, in an inventory or in `show version`.
    XrAsrProduct,
    XrNcsProduct,
    XrCisco8000,
    /// A mode of the hardware of an NCS 5500 or 540.
    XrHardwareMode,
    /// A class that matches a traffic class, which output policies of an NCS require.
    XrTrafficClass,
    Uadp,
    SiliconOne,
    /// Shaped round robin, and products with it.
    Srr,
    Catalyst4500,
    Catalyst6500,
    /// `mls qos` alone, which also exists on a Catalyst 6500.
    Mls,
    /// An ASR 920.
    Asr920,
    /// An ASR 900.
    CarrierEthernet,
    /// Switching interfaces, and no routed physical interface.
    Switching,
    /// The product name of a router with IOS-XE.
    XeProduct,
    /// The product name of a router with IOS.
    IosProduct,
    /// A virtual IOS, recognized by the name of its product or image.
    VirtualProduct,
    /// A virtual IOS, recognized by commands that it prints.
    VirtualCommand,
    /// The image that the router boots.
    XeImage,
    HqfImage,
    VipImage,
    OldImage,
    /// Commands that only IOS-XE routers print.
    XePlatform,
    /// Interface numbers in the format of IOS-XE routers.
    XeInterface,
    IolInterface,
    VipInterface,
    Version16,
    Version15,
    Version12_4,
    VersionOld,
    /// Commands that only one generation of queueing has.
    HqfFeature,
    OldFeature,
}

const SILICON_ONE: &str = "a Catalyst switch with Silicon One hardware";
const SRR: &str = "shaped round robin of a Catalyst 2960, 3560 or 3750";

/// Images of switches, by the prefix of their names.
const SWITCH_IMAGES: &[(&str, Sign, &str)] = &[
    ("c2960", Sign::Srr, "an image of a Catalyst 2960"),
    ("c3560", Sign::Srr, "an image of a Catalyst 3560"),
    ("c3750", Sign::Srr, "an image of a Catalyst 3750"),
    ("cat4500", Sign::Catalyst4500, "an image of a Catalyst 4500"),
    ("s72033", Sign::Catalyst6500, "an image of a Catalyst 6500"),
    ("s2t54", Sign::Catalyst6500, "an image of a Catalyst 6500"),
];

/// Signs of a router product or image.
const ROUTERS: &[Sign] = &[
    Sign::VirtualProduct,
    Sign::XeProduct,
    Sign::IosProduct,
    Sign::XeImage,
    Sign::HqfImage,
    Sign::VipImage,
    Sign::OldImage,
];

/// Returns the signs of the lines of `configuration`, in order.
pub(super) fn find(configuration: &Configuration) -> Vec<(Sign, Evidence)> {
    let mut found = Vec::new();
    let mut seen: Vec<Sign> = Vec::new();
    for line in &configuration.lines {
        let text = line.text.trim();
        let of_system = match configuration.grammar {
            Grammar::IosXr => of_xr_line(text),
            Grammar::NxOs => of_nx_line(&line.text),
            Grammar::Ios => None,
        };
        if let Some((sign, says)) = of_system.or_else(|| of_line(text))
            && !seen.contains(&sign)
        {
            seen.push(sign);
            found.push((sign, Evidence { line: line.number, text: text.to_owned(), says }));
        }
    }
    found.extend(hqf_feature(configuration));
    found.extend(virtual_command(configuration));
    if seen.contains(&Sign::Mls) {
        found.extend(chassis_port(configuration));
    }
    // A router can have switching ports, so `switchport` counts only without a sign of a router.
    if !found.iter().any(|(sign, _)| ROUTERS.contains(sign)) {
        found.extend(switching(configuration));
    }
    found
}

/// Returns the first line that identifies the configuration as IOS XR.
pub(super) fn line_of_ios_xr(configuration: &Configuration) -> Option<Evidence> {
    let line = configuration.lines.iter().find(|line| is_of_ios_xr(&line.text))?;
    Some(Evidence { line: line.number, text: line.text.trim().to_owned(), says: "only IOS XR writes it" })
}

/// Returns the sign of a line of NX-OS.
fn of_nx_line(text: &str) -> Option<(Sign, &'static str)> {
    let is_product = nexus::product_in(text.trim()).is_some();
    (is_product || is_of_nx_os(text)).then_some((Sign::NxOs, "NX-OS"))
}

/// Returns the sign of a line of IOS XR.
fn of_xr_line(text: &str) -> Option<(Sign, &'static str)> {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_ascii_whitespace().collect();
    match words.as_slice() {
        // `show inventory`, and the second line of `show version`.
        ["pid:" | "cisco", product, ..] => of_xr_product(product),
        ["hw-module", "profile", "qos", ..] => Some((Sign::XrHardwareMode, "a mode of an NCS 5500 or 540")),
        ["match", "traffic-class", ..] => Some((Sign::XrTrafficClass, "a class of an NCS 5500 or 540")),
        [prompt, ..] if prompt.starts_with("rp/") => Some((Sign::IosXr, "a prompt of IOS XR")),
        _ => None,
    }
}

fn of_xr_product(product: &str) -> Option<(Sign, &'static str)> {
    let begins = |names: &[&str]| names.iter().any(|name| product.starts_with(name));
    if begins(&["asr-9", "asr9", "a9k-", "a99-"]) {
        Some((Sign::XrAsrProduct, "an ASR 9000"))
    } else if begins(&["ncs-5", "ncs5", "ncs-540", "ncs540", "nc55-", "nc57-", "n540"]) {
        Some((Sign::XrNcsProduct, "an NCS 5500 or 540"))
    } else if begins(&[
        "8101", "8102", "8111", "8201", "8202", "8212", "8608", "88-", "8800", "8804", "8808", "8812", "8818",
    ]) {
        Some((Sign::XrCisco8000, "a Cisco 8000"))
    } else {
        None
    }
}

fn of_line(text: &str) -> Option<(Sign, &'static str)> {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split_ascii_whitespace();
    match words.next()? {
        "!command:" if lower.contains("show running-config") => Some((Sign::NxOs, "NX-OS")),
        "!!" if lower.contains("ios xr configuration") => Some((Sign::IosXr, "IOS XR")),
        "end-policy-map" | "end-class-map" => Some((Sign::IosXr, "an end of a block in IOS XR")),
        "feature" => Some((Sign::NxOs, "a command of NX-OS")),
        "class-map" | "policy-map" if is_nexus_type(&lower) => Some((Sign::NxOs, "a type of NX-OS")),
        "class-map" | "policy-map" | "service-policy" if lower.contains(" type lan-queuing") => {
            Some((Sign::Catalyst6500, "queues of a Catalyst 6500 or 6800"))
        }
        "queue-buffers" => Some((Sign::Uadp, "buffers of a class of a Catalyst 3850 or 9000")),
        "vdc" => Some((Sign::NxOs, "a virtual device context of NX-OS")),
        "version" => version(words.next()?),
        "license" => product_of(product(&lower)?),
        "boot" => image(lower.split_ascii_whitespace().last()?),
        "switch" => Some(switch(product(&lower)?)),
        "mls" if words.next() == Some("qos") => match words.next() {
            Some("srr-queue" | "queue-set") => Some((Sign::Srr, SRR)),
            _ => Some((Sign::Mls, "the switching hardware queues")),
        },
        "srr-queue" | "queue-set" => Some((Sign::Srr, SRR)),
        "wrr-queue" | "rcv-queue" => Some((Sign::Catalyst6500, "weighted round robin of a Catalyst 6500")),
        "dbl" | "tx-queue" => Some((Sign::Catalyst4500, "queues of a Catalyst 4500")),
        "qos" if lower == "qos" => Some((Sign::Catalyst4500, "a command of a Catalyst 4500")),
        "qos" if lower.starts_with("qos queue-softmax-multiplier") => {
            Some((Sign::Uadp, "buffers of a Catalyst 3850 or 9000"))
        }
        "platform" => platform(words.next()?),
        "interface" => interface(words.next()?),
        "priority-group" | "custom-queue-list" | "rate-limit" => {
            Some((Sign::OldFeature, "an interface command that current releases no longer have"))
        }
        _ => None,
    }
}

/// Returns the product that a line in lower case names, of the device or of a member of a stack.
pub(crate) fn product(lower: &str) -> Option<&str> {
    let (command, rest) = lower.split_once(' ')?;
    let (_, name) = match command {
        "license" => rest.split_once("udi pid ")?,
        "switch" => rest.split_once(" provision ")?,
        _ => return None,
    };
    name.split_ascii_whitespace().next()
}

fn is_nexus_type(lower: &str) -> bool {
    let mut words = lower.split_ascii_whitespace().skip(1);
    words.next() == Some("type") && matches!(words.next(), Some("qos" | "queuing" | "network-qos"))
}

fn version(number: &str) -> Option<(Sign, &'static str)> {
    if number.contains('(') {
        return Some((Sign::NxOs, "a version of NX-OS"));
    }
    let (major, minor) = number.split_once('.')?;
    match (major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) {
        (16.., _) => Some((Sign::Version16, "IOS-XE")),
        (15, _) => Some((Sign::Version15, "IOS 15: hierarchical queueing framework")),
        (12, 4) => Some((Sign::Version12_4, "12.4: the hierarchical queueing framework came in 12.4(20)T")),
        (..=12, _) => Some((Sign::VersionOld, "before the hierarchical queueing framework")),
        _ => None,
    }
}

fn product_of(product: &str) -> Option<(Sign, &'static str)> {
    const XE: &[&str] = &["csr1000v", "c8000v", "c8", "c11", "isr4", "asr1", "isrv", "ir1", "vg4"];
    const UADP: &[&str] = &["c9", "ws-c3650", "ws-c3850", "ie-3", "ess-3"];
    let begins = |names: &[&str]| names.iter().any(|name| product.starts_with(name));
    if has_silicon_one(product) {
        Some((Sign::SiliconOne, SILICON_ONE))
    } else if begins(UADP) {
        Some((Sign::Uadp, "a Catalyst switch with UADP hardware"))
    } else if product.starts_with("iosv") {
        Some((Sign::VirtualProduct, "a virtual IOS (IOSv)"))
    } else if product.starts_with("asr-920") {
        Some((Sign::Asr920, "an ASR 920, which queues packets in its forwarding hardware"))
    } else if product.starts_with("asr-9") {
        Some((Sign::CarrierEthernet, "an ASR 900, which queues packets in its forwarding hardware"))
    } else if begins(XE) {
        Some((Sign::XeProduct, "a router with IOS-XE"))
    } else if product.starts_with("ws-") || product.starts_with("ie-2000") {
        Some(switch(product))
    } else if product.starts_with("cisco") || product.starts_with("iad") {
        Some((Sign::IosProduct, "a router with IOS 15"))
    } else {
        None
    }
}

fn switch(product: &str) -> (Sign, &'static str) {
    let begins = |names: &[&str]| names.iter().any(|name| product.starts_with(name));
    if has_silicon_one(product) {
        (Sign::SiliconOne, SILICON_ONE)
    } else if begins(&["c9", "ws-c3650", "ws-c3850"]) {
        (Sign::Uadp, "a Catalyst switch with UADP hardware")
    } else if begins(&["ws-c45", "ws-c49", "ws-x45"]) {
        (Sign::Catalyst4500, "a Catalyst 4500")
    } else if begins(&["ws-c65", "ws-c68", "ws-c3550"]) {
        (Sign::Catalyst6500, "a Catalyst switch with weighted round robin")
    } else {
        (Sign::Srr, "a Catalyst switch with shaped round robin")
    }
}

/// Returns the sign of an image name. `c2800nm-adventerprisek9-mz.124-24.T4.bin` is release 12.4(24)T4, and
/// `c2900-universalk9-mz.SPA.157-3.M8.bin` is 15.7(3)M8.
fn image(file: &str) -> Option<(Sign, &'static str)> {
    const XE: &[&str] = &["isr4", "asr1", "csr1000v", "c8000", "c1100", "packages.conf"];
    let name = file.rsplit([':', '/']).next()?;
    if name.starts_with("asr9k") {
        return Some((Sign::IosXr, "an image of IOS XR"));
    }
    if name.starts_with("asr920") {
        return Some((Sign::Asr920, "an image of an ASR 920"));
    }
    if name.starts_with("asr9") {
        return Some((Sign::CarrierEthernet, "an image of an ASR 900"));
    }
    if XE.iter().any(|prefix| name.starts_with(prefix)) {
        return Some((Sign::XeImage, "an image of IOS-XE"));
    }
    if let Some((_, sign, says)) = SWITCH_IMAGES.iter().find(|(begin, _, _)| name.starts_with(begin)) {
        return Some((*sign, says));
    }
    if name.starts_with("vios-") {
        return Some((Sign::VirtualProduct, "an image of a virtual IOS (IOSv)"));
    }
    if name.starts_with("rsp-") {
        return Some((Sign::VipImage, "an image of the 7500"));
    }
    let release = name.split_once("-mz.")?.1.trim_start_matches("spa.");
    let (train, rest) = release.split_once('-')?;
    let rebuild: u32 = rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()?;
    let is_t = rest.split('.').nth(1).is_some_and(|suffix| suffix.starts_with('t'));
    match train.parse::<u32>().ok()? {
        150.. => Some((Sign::HqfImage, "an image of IOS 15: hierarchical queueing framework")),
        124 if is_t && rebuild >= 20 => {
            Some((Sign::HqfImage, "12.4(20)T or later: hierarchical queueing framework"))
        }
        _ => Some((Sign::OldImage, "an image from before the hierarchical queueing framework")),
    }
}

fn platform(word: &str) -> Option<(Sign, &'static str)> {
    matches!(word, "console" | "qfp" | "punt-keepalive" | "hardware")
        .then_some((Sign::XePlatform, "a router with IOS-XE"))
}

fn interface(name: &str) -> Option<(Sign, &'static str)> {
    let digits = name.find(|character: char| character.is_ascii_digit())?;
    let (kind, number) = name.split_at(digits);
    let slots = number.split('.').next()?.split('/').count();
    match (kind, slots) {
        (_, 4) => Some((Sign::IosXr, "an interface number of IOS XR")),
        ("bundle-ether", _) => Some((Sign::IosXr, "a bundle of IOS XR")),
        ("twogigabitethernet" | "fivegigabitethernet" | "appgigabitethernet", _) => {
            Some((Sign::Uadp, "an interface of a Catalyst 9000"))
        }
        ("gigabitethernet", 1) if number != "0" => {
            Some((Sign::XeInterface, "an interface number of a CSR1000V"))
        }
        ("gigabitethernet" | "tengigabitethernet", 3) => {
            Some((Sign::XeInterface, "an interface number of an ISR 4000 or ASR 1000"))
        }
        ("ethernet", 2) => Some((Sign::IolInterface, "an interface of IOL, which queues in software")),
        // Slot 0 with three numbers is not a sign of a 7500: it is an interface card of an ISR.
        ("serial" | "atm" | "fastethernet" | "pos" | "hssi", 3) if !number.starts_with("0/") => {
            Some((Sign::VipInterface, "slots of a 7500"))
        }
        _ => None,
    }
}

/// Returns a sign of a Catalyst 6500 with `mls qos`: a port of a line card. Ports of a 2960, 3560 or 3750
/// have slot 0 or three numbers. Ports of an IE 3000 have slots up to 3.
fn chassis_port(configuration: &Configuration) -> Option<(Sign, Evidence)> {
    let is_chassis_port = |name: &str| {
        let number =
            ["gigabitethernet", "tengigabitethernet"].iter().find_map(|kind| name.strip_prefix(kind))?;
        let (slot, port) = number.split_once('/')?;
        Some(slot.parse::<u32>().ok()? >= 3 && port.parse::<u32>().is_ok())
    };
    let line = configuration.lines.iter().find(|line| {
        let lower = line.text.trim().to_ascii_lowercase();
        lower.strip_prefix("interface ").and_then(is_chassis_port) == Some(true)
    })?;
    Some((Sign::Catalyst6500, evidence(line, "a port of a line card")))
}

/// Returns a sign of HQF: `bandwidth` and `fair-queue` in one class, which earlier releases refuse.
fn hqf_feature(configuration: &Configuration) -> Option<(Sign, Evidence)> {
    let classes = configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    let class = classes.into_iter().find(|class| class.bandwidth.is_some() && class.fair_queue.is_some())?;
    let line = class.fair_queue?.line;
    let text = configuration.lines.get(line - 1)?.text.trim().to_owned();
    Some((Sign::HqfFeature, Evidence { line, text, says: "bandwidth and fair-queue in one class" }))
}

/// Returns a sign of a virtual IOS: `mmi polling-interval` with a version from 15.6 on and
/// `GigabitEthernet0/0`. Source: configurations of `IOSv` 15.6 to 15.9.
fn virtual_command(configuration: &Configuration) -> Option<(Sign, Evidence)> {
    let mut lines = configuration.lines.iter().map(|line| (line, line.text.trim()));
    let is_late = |text: &str| {
        let minor = text.strip_prefix("version 15.").and_then(|minor| minor.parse::<u32>().ok());
        minor.is_some_and(|minor| minor >= 6)
    };
    let has_line =
        |wanted: &dyn Fn(&str) -> bool| configuration.lines.iter().any(|line| wanted(line.text.trim()));
    if !has_line(&is_late) || !has_line(&|text| text.eq_ignore_ascii_case("interface GigabitEthernet0/0")) {
        return None;
    }
    let (line, text) = lines.find(|(_, text)| text.starts_with("mmi polling-interval"))?;
    let evidence = Evidence { line: line.number, text: text.to_owned(), says: "a virtual IOS (IOSv)" };
    Some((Sign::VirtualCommand, evidence))
}

/// Returns a sign of a switch: switching interfaces without a routed physical interface, or `no switchport`.
/// A router with switching ports has at least one routed physical interface.
fn switching(configuration: &Configuration) -> Option<(Sign, Evidence)> {
    let mut blocks: BTreeMap<usize, bool> = BTreeMap::new();
    let mut first = None;
    for line in &configuration.lines {
        let text = line.text.trim();
        if let Some(name) = text.strip_prefix("interface ") {
            let is_virtual = ["vlan", "loopback", "null"].iter().any(|kind| begins_with(name, kind));
            blocks.insert(line.number, !is_virtual);
            continue;
        }
        let Some(is_line) = line.block.and_then(|block| blocks.get_mut(&block)) else { continue };
        if text == "no switchport" {
            return Some((Sign::Switching, evidence(line, "only switches have this command")));
        }
        if text.starts_with("switchport ") {
            first = first.or(Some(line));
        } else if text.contains("Mgmt") {
            // The management port of a switch can have an address.
            *is_line = false;
        }
    }
    let routes = configuration.lines.iter().any(|line| {
        let is_line = line.block.and_then(|block| blocks.get(&block)).copied().unwrap_or(false);
        is_line && routes_by(line.text.trim())
    });
    first.filter(|_| !routes).map(|line| (Sign::Switching, evidence(line, "only switching interfaces")))
}

/// Whether a command belongs to routed interfaces.
fn routes_by(command: &str) -> bool {
    [
        "ip address ",
        "ipv6 address ",
        "ip unnumbered ",
        "encapsulation ",
        "pppoe-client ",
        "ppp ",
        "dialer ",
        "pvc ",
        "tunnel ",
    ]
    .iter()
    .any(|begin| command.starts_with(begin))
}

fn begins_with(name: &str, kind: &str) -> bool {
    name.get(..kind.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(kind))
}

fn evidence(line: &Line, says: &'static str) -> Evidence {
    Evidence { line: line.number, text: line.text.trim().to_owned(), says }
}
