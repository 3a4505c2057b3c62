//! Reports names that a line uses and no line defines: route-maps, prefix lists, VRFs, profiles of IPsec,
//! interfaces.
//!
//! The text may be only a part of a configuration. Therefore a name is reported only if the text defines
//! another name of the same kind.

use std::collections::BTreeSet;

use perhop_lint::{Diagnostic, Line, near};

use crate::ast::Configuration;
use crate::grammar::Grammar;
use crate::rules;
use crate::syntax::interface_name;

/// A kind of named objects.
struct Kind {
    title: &'static str,
    /// The words before the name, at the beginning of a line that defines it.
    defined: &'static [&'static str],
    /// The words before the name, anywhere in a line that uses it.
    used: &'static [&'static str],
    effect: &'static str,
}

/// The kinds and their commands. Source: Cisco, "Cisco IOS IP Routing: BGP Command Reference", "Cisco IOS
/// Security Command Reference", "Cisco IOS IP Switching Command Reference" and "Cisco IOS Wide-Area
/// Networking Command Reference".
const KINDS: &[Kind] = &[
    Kind {
        title: "route-map",
        defined: &["route-map"],
        used: &["route-map"],
        effect: "the router accepts the line, but applies no route-map to the routes or packets",
    },
    Kind {
        title: "prefix list",
        defined: &["ip prefix-list", "ipv6 prefix-list"],
        used: &["prefix-list", "distribute-list prefix"],
        effect: "the router accepts the line, but does not filter the intended routes",
    },
    Kind {
        title: "VRF",
        defined: &["vrf definition", "ip vrf"],
        used: &["vrf forwarding", "tunnel vrf"],
        effect: "the interface does not join the routing table of the VRF",
    },
    Kind {
        title: "IPsec profile",
        defined: &["crypto ipsec profile"],
        used: &["tunnel protection ipsec profile"],
        effect: "the tunnel does not encrypt, or does not come up",
    },
    Kind {
        title: "transform set",
        defined: &["crypto ipsec transform-set"],
        used: &["set transform-set"],
        effect: "the two ends cannot agree on the encryption, and the tunnel does not come up",
    },
    Kind {
        title: "IKEv2 profile",
        defined: &["crypto ikev2 profile"],
        used: &["set ikev2-profile"],
        effect: "the tunnel does not come up",
    },
    Kind {
        title: "key chain",
        defined: &["key chain"],
        used: &["key-chain"],
        effect: "the neighbors do not authenticate each other",
    },
    Kind {
        title: "member of dialer pool",
        // `pool-member` of a VPDN group connects the pool through a tunnel.
        defined: &["pppoe-client dial-pool-number", "dialer pool-member", "pool-member"],
        used: &["dialer pool"],
        effect: "no physical interface carries the connection of the dialer interface",
    },
    Kind {
        title: "dialer interface of pool",
        defined: &["dialer pool"],
        used: &["pppoe-client dial-pool-number", "dialer pool-member"],
        effect: "the physical interface carries no connection",
    },
    Kind { title: "BGP process", defined: &["router bgp"], used: &["redistribute bgp"], effect: NO_ROUTES },
    Kind {
        title: "OSPF process",
        defined: &["router ospf", "router ospfv3", "ipv6 router ospf"],
        used: &["redistribute ospf"],
        effect: NO_ROUTES,
    },
    Kind {
        title: "EIGRP process",
        defined: &["router eigrp", "ipv6 router eigrp", AUTONOMOUS_SYSTEM],
        used: &["redistribute eigrp"],
        effect: NO_ROUTES,
    },
    Kind {
        title: "map class of frame relay",
        defined: &["map-class frame-relay"],
        used: &["frame-relay class"],
        effect: "the circuit has the default rate of 56 kbit/s if the interface shapes, and no queues",
    },
    Kind {
        title: "class of ATM circuits",
        defined: &["vc-class atm"],
        used: &["class-int", "class-vc"],
        effect: "the circuit has no rate and the default encapsulation",
    },
    Kind {
        title: "access list",
        defined: &["ip access-list extended", "ip access-list standard", "access-list"],
        used: &["ip nat inside source list"],
        effect: NO_TRANSLATION,
    },
];

/// The titles of the kinds whose commands NX-OS shares (Cisco Nexus 9000, "Unicast Routing Configuration
/// Guide").
const OF_NX_OS: [&str; 3] = ["route-map", "prefix list", "key chain"];
/// The word after the name if a line of a neighbor applies a route-map: `route-map NAME in`.
const WAYS: [&str; 2] = ["in", "out"];
/// The first words of lines with free text, or with commands that the router runs later.
const TEXTS: [&str; 8] = ["description", "remark", "alias", "name", "banner", "action", "cli", "event"];
/// The words before free text at any position of a line.
const NOTES: [&str; 2] = ["description", "remark"];
/// The words before a phrase with another meaning: `capability orf prefix-list both` and
/// `bgp route-map priority`.
const OTHERS: [&str; 2] = ["orf", "bgp"];
/// The name of objects that the router itself defines (Cisco, "Smart Defaults" of IPsec).
const DEFAULT: &str = "default";
/// The titles of the kinds that have an object with the name [`DEFAULT`].
const WITH_DEFAULT: [&str; 2] = ["IPsec profile", "transform set"];
/// The word before the number of an EIGRP process in the named form. It follows the words of the address
/// family.
const AUTONOMOUS_SYSTEM: &str = "autonomous-system";
const NO_ROUTES: &str = "the neighbors do not learn the routes that the line should announce";
const NO_SOURCE: &str = "the tunnel or session has no source, and does not come up";
const NO_TRANSLATION: &str =
    "the router translates no addresses, so replies from outside do not reach the hosts";
/// The first words of lines that use the address of an interface.
const SOURCES: [&str; 3] = ["tunnel", "neighbor", "ip"];
/// The beginning of a line that translates addresses to the address of an interface.
const TRANSLATION: &str = "ip nat inside source ";

/// The first words of all phrases before a name. Most lines of a large configuration, such as entries of
/// access lists, have none of them, and are skipped.
struct Announcing {
    words: BTreeSet<&'static str>,
    /// For each byte, whether a word in `words` begins with it. This is faster than a search in `words`.
    letters: [bool; 1 << u8::BITS],
}

impl Announcing {
    fn new() -> Announcing {
        let phrases = KINDS.iter().flat_map(|kind| kind.defined.iter().chain(kind.used));
        let first = |phrase: &&'static str| phrase.split(' ').next();
        let words: BTreeSet<&str> = phrases.filter_map(first).chain(SOURCES).collect();
        let mut letters = [false; 1 << u8::BITS];
        for letter in words.iter().filter_map(|word| word.bytes().next()) {
            letters[usize::from(letter)] = true;
        }
        Announcing { words, letters }
    }

    /// Whether a line has one of the words.
    fn is_in(&self, text: &str) -> bool {
        let is_possible =
            |word: &&str| word.bytes().next().is_some_and(|letter| self.letters[usize::from(letter)]);
        text.split_whitespace().filter(is_possible).any(|word| self.words.contains(word))
    }
}

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let kinds: Vec<&Kind> = match configuration.grammar {
        Grammar::Ios => KINDS.iter().collect(),
        Grammar::NxOs => KINDS.iter().filter(|kind| OF_NX_OS.contains(&kind.title)).collect(),
        Grammar::IosXr => return,
    };
    let announcing = Announcing::new();
    let mut lines: Vec<(&Line, Vec<&str>)> = configuration
        .lines
        .iter()
        .filter(|line| announcing.is_in(&line.text))
        .filter(|line| !line.is_blank('!') && !line.text.trim_start().starts_with("no "))
        .map(|line| (line, line.text.split_whitespace().collect()))
        .collect();
    if configuration.grammar == Grammar::Ios {
        check_interfaces(configuration, &lines, found);
        lines.extend(circuit_classes(configuration));
    }
    for kind in kinds {
        let definitions = lines.iter().filter_map(|(_, words)| kind.defined_name(words));
        let known: BTreeSet<&str> = definitions.collect();
        if known.is_empty() {
            continue;
        }
        for (line, words) in &lines {
            if let Some(name) = kind.used_name(words).filter(|name| !known.contains(name)) {
                let message = format!("{} {name} is not defined", kind.title);
                found.push(
                    Diagnostic::new(&rules::NAME_UNDEFINED, line.number, message, kind.effect)
                        .suggesting(near(name, known.iter().copied())),
                );
            }
        }
    }
}

/// Returns the lines `class NAME` of circuits, with the words of the line that names a class for all circuits
/// of an interface.
fn circuit_classes(configuration: &Configuration) -> impl Iterator<Item = (&Line, Vec<&str>)> {
    let lines = configuration.lines.iter().filter(|line| !line.is_blank('!'));
    lines.clone().zip(lines.skip(1)).filter_map(|(circuit, line)| {
        let name = line.text.trim_start().strip_prefix("class ")?;
        let is_circuit = circuit.text.trim_start().starts_with("frame-relay interface-dlci ");
        is_circuit.then(|| (line, vec!["frame-relay", "class", name.trim()]))
    })
}

/// Reports missing interfaces whose address a line uses, if other interfaces of the same kind exist.
fn check_interfaces(
    configuration: &Configuration,
    lines: &[(&Line, Vec<&str>)],
    found: &mut Vec<Diagnostic>,
) {
    let kind = |name: &str| name.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic()).to_owned();
    let known: BTreeSet<&str> =
        configuration.interfaces.iter().map(|interface| interface.name.as_str()).collect();
    let kinds: BTreeSet<String> = known.iter().map(|name| kind(name)).collect();
    for (line, words) in lines {
        let Some((written, effect)) = source(&line.text, words) else { continue };
        let name = interface_name(&written);
        if known.contains(name.as_str()) || !kinds.contains(&kind(&name)) {
            continue;
        }
        let message = format!("interface {name} is not defined");
        found.push(
            Diagnostic::new(&rules::NAME_UNDEFINED, line.number, message, effect)
                .suggesting(near(&name, known.iter().copied())),
        );
    }
}

/// Returns the interface whose address a line uses, and the effect if the interface does not exist.
fn source(text: &str, words: &[&str]) -> Option<(String, &'static str)> {
    let (before, effect) = match words {
        ["tunnel", "source", ..] => ("source", NO_SOURCE),
        ["neighbor", _, "update-source", ..] => ("update-source", NO_SOURCE),
        _ if text.trim_start().starts_with(TRANSLATION) => ("interface", NO_TRANSLATION),
        _ => return None,
    };
    let place = words.iter().position(|word| *word == before)?;
    let name = words.get(place + 1)?;
    // A name may be written in two words: `Loopback 0`.
    let number = words.get(place + 2).filter(|word| word.starts_with(|digit: char| digit.is_ascii_digit()));
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    is_name.then(|| (format!("{name}{}", number.unwrap_or(&"")), effect))
}

impl Kind {
    fn defined_name<'t>(&self, words: &[&'t str]) -> Option<&'t str> {
        self.defined.iter().find_map(|phrase| {
            let place = words.iter().position(|word| *word == AUTONOMOUS_SYSTEM);
            let words = place.filter(|_| *phrase == AUTONOMOUS_SYSTEM).map_or(words, |place| &words[place..]);
            let name = behind(words, phrase)?.first().copied()?;
            if *phrase == "route-map" && words.get(2).is_some_and(|word| WAYS.contains(word)) {
                return None;
            }
            // `ip vrf forwarding NAME` uses a VRF, and `ip prefix-list sequence-number` is not a prefix list.
            (!matches!(name, "forwarding" | "receive" | "sequence-number")).then_some(name)
        })
    }

    fn used_name<'t>(&self, words: &[&'t str]) -> Option<&'t str> {
        // Free text can have the words of a phrase, without a name behind them.
        let is_text = words.first().is_some_and(|word| TEXTS.contains(word));
        if is_text || self.defined_name(words).is_some() {
            return None;
        }
        let end = words.iter().position(|word| NOTES.contains(word));
        let words = &words[..end.unwrap_or(words.len())];
        let is_other = |place: usize| place > 0 && OTHERS.contains(&words[place - 1]);
        let name = self.used.iter().find_map(|phrase| {
            let mut places = (0..words.len()).filter(|place| !is_other(*place));
            let mut after = places.find_map(|place| behind(&words[place..], phrase))?.iter().copied();
            // `ip authentication key-chain eigrp 100 NAME` has the process before the name.
            after.next().and_then(|first| if first == "eigrp" { after.nth(1) } else { Some(first) })
        });
        name.filter(|name| *name != DEFAULT || !WITH_DEFAULT.contains(&self.title))
    }
}

/// Returns the words after `phrase`; `None` if `words` do not begin with `phrase`.
fn behind<'w, 't>(words: &'w [&'t str], phrase: &str) -> Option<&'w [&'t str]> {
    let mut rest = words;
    for word in phrase.split(' ') {
        let (first, after) = rest.split_first()?;
        if *first != word {
            return None;
        }
        rest = after;
    }
    Some(rest)
}
