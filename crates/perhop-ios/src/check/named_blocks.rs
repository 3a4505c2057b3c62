//! Blocks that affect packets only if another line names them. If a line names such a block, the lines of the
//! block are outside the model.

use std::collections::BTreeSet;

use perhop_lint::{Line, LineState};

use crate::ast::Configuration;

/// A kind of block, and the commands that apply a block by name.
struct Kind {
    /// The word before the name in a line that opens a block.
    opens: &'static str,
    /// The words before the name in a line that applies the block.
    applied_by: &'static [&'static str],
    effect: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        opens: "route-map",
        applied_by: &["ip policy route-map", "ip local policy route-map", "ipv6 policy route-map"],
        effect: "a route-map selects the next hop of packets, and may mark them",
    },
    Kind {
        opens: "template",
        applied_by: &["source template"],
        effect: "the commands apply to the interfaces that name the template",
    },
    Kind {
        opens: "time-range",
        applied_by: &["time-range"],
        effect: "perhop treats access-list entries with this time range as always active",
    },
];
/// Commands with an effect in blocks whose other commands have no effect on packets: the word that opens the
/// block, the words of the command, and the effect.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("dial-peer", "ip qos dscp", "the router marks the packets of its own calls"),
    ("vlan", "private-vlan", "frames between ports of a private VLAN are dropped"),
    ("vlan", "shutdown", "frames of the VLAN are dropped"),
    ("vlan", "state suspend", "frames of the VLAN are dropped"),
    ("vlan", "vn-segment", "VXLAN headers make packets longer"),
];

pub(super) fn check(configuration: &mut Configuration) {
    let lines = &configuration.lines;
    let mut found: Vec<(usize, &'static str)> = Vec::new();
    for kind in KINDS {
        let names: BTreeSet<&str> = lines.iter().filter_map(|line| kind.applied(line)).collect();
        let opens = |line: &&Line| kind.opened(line).is_some_and(|name| names.contains(name));
        let blocks: BTreeSet<usize> = lines.iter().filter(opens).map(|line| line.number).collect();
        if !blocks.is_empty() {
            let is_inside = |line: &&Line| line.block.is_some_and(|block| blocks.contains(&block));
            let inside = lines.iter().filter(is_inside).map(|line| line.number);
            found.extend(blocks.iter().copied().chain(inside).map(|line| (line, kind.effect)));
        }
    }
    for line in lines {
        let opening = line.block.and_then(|block| lines.get(block.wrapping_sub(1)));
        let Some(opening) = opening else { continue };
        let is_own = |(block, command, _): &&(&str, &str, &str)| {
            line.text.trim_start().starts_with(command)
                && opening.text.split_ascii_whitespace().next() == Some(*block)
        };
        found.extend(COMMANDS.iter().find(is_own).map(|(_, _, effect)| (line.number, *effect)));
    }
    for (number, effect) in found {
        let line = configuration.lines.get_mut(number.wrapping_sub(1));
        if let Some(line) = line.filter(|line| line.state == LineState::Irrelevant && !line.is_blank('!')) {
            line.state = LineState::NotModelled;
            line.note = Some(effect.to_owned());
        }
    }
}

impl Kind {
    /// Returns the name of the block that `line` opens.
    fn opened<'l>(&self, line: &'l Line) -> Option<&'l str> {
        let mut words = line.text.split_ascii_whitespace();
        words.next().filter(|word| *word == self.opens).and_then(|_| words.next())
    }

    /// Returns the name of the block that `line` applies.
    fn applied<'l>(&self, line: &'l Line) -> Option<&'l str> {
        if !line.text.contains(self.opens) || self.opened(line).is_some() {
            return None;
        }
        self.applied_by
            .iter()
            .find_map(|words| line.text.split_once(words)?.1.split_ascii_whitespace().next())
    }
}
