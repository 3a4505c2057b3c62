//! [`Grammar`]: the commands and blocks of a configuration.

/// The command language of a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grammar {
    /// Cisco IOS and IOS-XE, and the switches with the same commands.
    #[default]
    Ios,
    /// Cisco IOS XR.
    IosXr,
    /// Cisco NX-OS.
    NxOs,
}

impl Grammar {
    /// Returns the grammar of `text`: IOS XR or NX-OS if a line exists only in that system, otherwise IOS.
    pub(crate) fn of_text(text: &str) -> Grammar {
        if text.lines().any(is_of_ios_xr) {
            Grammar::IosXr
        } else if text.lines().any(is_of_nx_os) {
            Grammar::NxOs
        } else {
            Grammar::Ios
        }
    }
}

/// Whether only IOS XR writes this line: its header, its prompt, the ends of its blocks, the unit of a
/// policer's rate, or an interface number with rack 0, slot, module and port.
pub(crate) fn is_of_ios_xr(line: &str) -> bool {
    let line = line.trim();
    let first = line.split_ascii_whitespace().next().unwrap_or_default();
    match first {
        // The unit of a policer's rate shows the system: IOS has only `bps` and `pps`, and NX-OS writes
        // `police cir`.
        "police" => {
            let words: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
            matches!(words.as_slice(), [_, "rate", _, "kbps" | "mbps" | "gbps"])
        }
        "!!" => line.contains("IOS XR"),
        "end-class-map" | "end-policy-map" | "end-set" => true,
        "interface" => line.split_ascii_whitespace().nth(1).is_some_and(has_rack),
        // A prompt of IOS XR contains the numbers of a rack and a node: `RP/0/RP0/CPU0:core#`.
        prompt => prompt.starts_with("RP/") && prompt.contains("/CPU"),
    }
}

/// Whether only NX-OS writes this line: its header, its features, its virtual device contexts, the types of
/// its classes and policies, or a release in parentheses, `version 9.3(5)`.
pub(crate) fn is_of_nx_os(line: &str) -> bool {
    let is_outside = !line.starts_with([' ', '\t']);
    let line = without_prompt(line);
    let mut words = line.split_ascii_whitespace();
    let mut next = || words.next().unwrap_or_default();
    match next() {
        "!Command:" => line.contains("show running-config"),
        "version" if is_outside => next().contains('('),
        "feature" if is_outside => true,
        "no" if is_outside => next() == "feature",
        "vdc" if is_outside => line.contains(" id "),
        "system" if is_outside => next() == "qos",
        // Only NX-OS writes these types: the Catalyst 6500 has `queueing` and `lan-queueing`.
        "class-map" | "policy-map" | "class" | "service-policy" => {
            next() == "type" && matches!(next(), "qos" | "queuing" | "network-qos")
        }
        _ => false,
    }
}

/// Removes the prompt of a recorded session from a line: `edge(config-if)#`.
pub(crate) fn without_prompt(text: &str) -> &str {
    match text.split_once(")#") {
        Some((prompt, command)) if prompt.contains("(config") && !prompt.contains(' ') => command,
        _ => text,
    }
}

/// Whether the interface number has four parts and begins with 0, or the interface is a bundle of IOS XR.
/// Ports of a virtual stack of Catalyst 9400 or 9600 also have four parts, but begin with the switch number 1
/// or 2: `TenGigabitEthernet1/1/0/1`. Cisco, "High Availability Configuration Guide, Catalyst 9600".
fn has_rack(name: &str) -> bool {
    let digits = name.find(|character: char| character.is_ascii_digit()).unwrap_or(name.len());
    let (kind, number) = name.split_at(digits);
    let port = number.split('.').next().unwrap_or_default();
    kind.eq_ignore_ascii_case("bundle-ether")
        || port.starts_with("0/") && port.split('/').count() == 4 && !port.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_both_systems_write_is_of_ios() {
        for line in [
            "interface TenGigabitEthernet1/1/0/1",
            "interface HundredGigE2/5/0/27",
            "interface Serial0/1/0/1:0",
            "interface GigabitEthernet0/0/0",
            "interface Port-channel1",
            "  police rate 1000000 bps",
            "  police cir 10 mbps",
            "description RP/0/RP0/CPU0",
            "version 15.2",
            " feature of a line",
            "policy-map type queueing OUT",
            "class-map type inspect match-any C",
        ] {
            assert_eq!(Grammar::of_text(line), Grammar::Ios, "{line}");
        }
        for line in [
            "interface TenGigE0/0/0/1.100 l2transport",
            "interface MgmtEth0/RP0/CPU0/0",
            "interface Bundle-Ether1",
            " end-policy-map",
            "  police rate 10 mbps burst 10 ms",
            "RP/0/RSP0/CPU0:core#show run",
        ] {
            assert_eq!(Grammar::of_text(line), Grammar::IosXr, "{line}");
        }
        for line in [
            "!Command: show running-config",
            "version 9.3(5) Bios:version 05.38",
            "feature lacp",
            "no feature telnet",
            "policy-map type queuing OUT",
            "  class type network-qos c-8q-nq3",
            "system qos",
            "switch(config)# class-map type qos VOICE",
            "  service-policy type qos input IN",
        ] {
            assert_eq!(Grammar::of_text(line), Grammar::NxOs, "{line}");
        }
    }
}
