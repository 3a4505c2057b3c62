//! [`Block`]: interfaces and circuits with their lines.

use std::collections::BTreeMap;

use perhop_device::{DeviceModel, Port};

/// Commands of an interface or circuit that affect the meaning of its policies.
const KEPT: [&str; 27] = [
    "bandwidth",
    "encapsulation",
    "ip address",
    "ipv6 address",
    "ipv6 enable",
    "tunnel",
    "mtu",
    "ip mtu",
    "ip tcp adjust-mss",
    "clock rate",
    "tx-ring-limit",
    "vbr-nrt",
    "vbr-rt",
    "cbr",
    "ubr",
    "abr",
    "protocol ip",
    "ppp multilink",
    "multilink-group",
    "frame-relay",
    "channel-group",
    "switchport",
    "native",
    "shutdown",
    "max-reserved-bandwidth",
    "ip add",
    "ipv6 add",
];
/// The command that attaches a policy to the peers of a tunnel, which are a separate port.
const GROUP: &str = "ip nhrp map group ";

/// An interface or circuit, and its lines.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The opening line.
    pub(super) text: String,
    kept: Vec<String>,
    inside: Vec<BlockKey>,
    added: Vec<String>,
}

impl Block {
    /// Creates a block with some lines.
    pub(super) fn new(text: String, kept: Vec<String>) -> Block {
        Block { text, kept, inside: Vec::new(), added: Vec::new() }
    }

    /// Adds the lines that attach a policy. For a block that consists of a single line, replaces the name of
    /// the policy in this line.
    pub(super) fn attach(&mut self, lines: Vec<String>, policy: Option<&str>) {
        match policy {
            Some(policy) if self.text.starts_with(GROUP) => {
                let before = self.text.rsplit_once(' ').map_or("", |(before, _)| before);
                self.text = format!("{before} {policy}");
            }
            _ => self.added.extend(lines),
        }
    }
}

/// The opening line of a block, or the number of a created block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockKey {
    Line(usize),
    Made(usize),
}

/// Blocks in order.
pub(super) type Blocks = BTreeMap<BlockKey, Block>;

/// Adds the block of a port of `device` and the enclosing blocks. Returns the key of the block of the port.
pub(super) fn add_of_port(blocks: &mut Blocks, device: &DeviceModel, port: &Port) -> BlockKey {
    let opened = BlockKey::Line(port.line);
    let (mut number, mut inner) = (port.line, None);
    while let Some(line) = device.lines.iter().find(|line| line.number == number) {
        let block = blocks.entry(BlockKey::Line(number)).or_insert_with(|| {
            let below = device.lines.iter().filter(|line| line.block == Some(number));
            let kept = below.map(|line| without_prompt(&line.text)).filter(|text| is_kept(text));
            Block::new(without_prompt(&line.text).to_owned(), kept.map(str::to_owned).collect())
        });
        if let Some(inner) = inner.filter(|inner| !block.inside.contains(inner)) {
            block.inside.push(inner);
        }
        inner = Some(BlockKey::Line(number));
        match line.block {
            Some(around) => number = around,
            None => break,
        }
    }
    opened
}

/// Whether the block of the port itself attaches a policy in the direction `way`, `in` or `out`. Enclosing
/// blocks do not count.
pub(super) fn attaches(device: &DeviceModel, port: &Port, way: &str) -> bool {
    device.lines.iter().any(|line| {
        let text = without_prompt(&line.text);
        let is_group = line.number == port.line && text.starts_with(GROUP);
        is_group
            || (line.block == Some(port.line) && attached_way(text).is_some_and(|own| way.starts_with(own)))
    })
}

/// Returns the direction, `in` or `out`, of a line that attaches a policy or is a rate limit.
fn attached_way(text: &str) -> Option<&'static str> {
    let mut words = text.split_whitespace();
    words.next().filter(|word| word.starts_with("serv") || word.starts_with("rate-l"))?;
    let mut word = words.next()?;
    if word == "type" {
        words.next()?;
        word = words.next()?;
    }
    words.next()?;
    let is = |whole: &str, least: usize| word.len() >= least && whole.starts_with(word);
    if is("input", 2) {
        Some("in")
    } else if is("output", 3) {
        Some("out")
    } else {
        None
    }
}

/// Removes the prompt of a session: `R1(config-if)# `.
fn without_prompt(text: &str) -> &str {
    let text = text.trim();
    let Some((before, rest)) = text.split_once(")#") else { return text };
    let is_prompt = before.split_once('(').is_some_and(|(host, mode)| {
        !host.is_empty() && !host.contains(char::is_whitespace) && !mode.contains(')')
    });
    if is_prompt { rest.trim_start() } else { text }
}

fn is_kept(text: &str) -> bool {
    let text = text.strip_prefix("no ").unwrap_or(text);
    let ends_word = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    KEPT.iter().any(|start| text.strip_prefix(start).is_some_and(ends_word))
}

/// Returns the lines of all blocks, with inner blocks inside outer ones.
pub(super) fn lines(blocks: &Blocks) -> Vec<String> {
    let inner: Vec<BlockKey> = blocks.values().flat_map(|block| block.inside.iter().copied()).collect();
    let mut found = Vec::new();
    for key in blocks.keys().filter(|key| !inner.contains(key)) {
        add_lines(blocks, *key, 0, &mut found);
        found.push("!".to_owned());
    }
    found
}

fn add_lines(blocks: &Blocks, key: BlockKey, depth: usize, found: &mut Vec<String>) {
    let Some(block) = blocks.get(&key) else { return };
    let space = " ".repeat(depth);
    found.push(format!("{space}{}", block.text));
    found.extend(block.kept.iter().chain(&block.added).map(|line| format!("{space} {line}")));
    for inner in &block.inside {
        add_lines(blocks, *inner, depth + 1, found);
    }
}
