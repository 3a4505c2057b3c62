//! [`Marks`]: the marks of the firewall that the commands of a file set.

use std::collections::BTreeSet;

use crate::units;

/// Options of `iptables -j MARK` whose value is a mark, with or without a mask (iptables-extensions(8)).
const SETTING: [&str; 3] = ["--set-mark", "--set-xmark", "--or-mark"];
/// Words in commands that can set marks that perhop does not know: marks of connections, marks in other
/// files, and commands that only the shell can expand.
const ELSEWHERE: [&str; 9] = [
    "--restore-mark",
    "connmark",
    "ctinfo",
    "iptables-restore",
    "ip6tables-restore",
    "source",
    ".",
    "eval",
    "-f",
];

/// The marks that packets may have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// The lowest eight bits of the marks that lines set.
    values: BTreeSet<u8>,
    /// Whether a line sets unknown marks.
    is_open: bool,
    /// Whether the file has commands. An output of `tc` does not contain the rules of the firewall.
    has_commands: bool,
}

impl Marks {
    /// Reads the words of a command of any program.
    pub(crate) fn read(&mut self, words: &[String]) {
        let all: Vec<&str> = words.iter().map(String::as_str).collect();
        self.has_commands |= all.iter().any(|word| matches!(*word, "add" | "replace" | "change"));
        let is_nft = all.iter().any(|word| word.rsplit('/').next() == Some("nft"));
        let is_elsewhere = |word: &&str| ELSEWHERE.contains(word) && (is_nft || *word != "-f");
        self.is_open |= all.iter().any(|word| is_elsewhere(word) || word.eq_ignore_ascii_case("connmark"));
        for (at, word) in all.iter().enumerate() {
            let next = all.get(at + 1).copied();
            if SETTING.contains(word) {
                self.set(next);
            } else if *word == "mark" && next == Some("set") {
                // nft(8): `meta mark set 6`.
                self.set(all.get(at + 2).copied());
            }
        }
    }

    fn set(&mut self, text: Option<&str>) {
        let value = text.map(|text| text.split_once('/').map_or(text, |(value, _)| value));
        match value.and_then(|value| units::integer(value.trim_end_matches([';', '}']), 0)) {
            Some(value) => self.set_value(value),
            None => self.is_open = true,
        }
    }

    pub(crate) fn set_value(&mut self, value: u64) {
        self.values.insert((value & 0xff) as u8);
    }

    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }

    /// Whether a packet may have one of `labels`. A packet without a mark has label 0.
    pub(crate) fn may_be(&self, labels: &[u8]) -> bool {
        self.is_open
            || !self.has_commands
            || labels.iter().any(|label| *label == 0 || self.values.contains(label))
    }

    /// The marks that lines set, as numbers in a list; `None` if no line sets a mark.
    pub(crate) fn listed(&self) -> Option<String> {
        let values: Vec<String> = self.values.iter().map(ToString::to_string).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(command: &str) -> Marks {
        let mut marks = Marks::default();
        marks.read(&command.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        marks
    }

    #[test]
    fn marks_of_iptables_and_nft_are_read() {
        for command in [
            "iptables -t mangle -A POSTROUTING -p udp -j MARK --set-mark 6",
            "iptables -t mangle -A POSTROUTING -j MARK --set-xmark 0x6/0xffffffff",
            "nft add rule ip mangle out udp dport 5060 meta mark set 0x6",
        ] {
            let mut marks = marks(command);
            marks.has_commands = true;
            assert!(marks.may_be(&[6]) && !marks.may_be(&[7]), "{command}");
        }
        for command in [
            "iptables -t mangle -A PREROUTING -j CONNMARK --restore-mark",
            "iptables -t mangle -A PREROUTING -j MARK --set-mark $MARK",
            "nft -f /etc/nftables.conf",
            ". ./marks.sh",
        ] {
            assert!(marks(command).may_be(&[7]), "{command}");
        }
        assert!(!marks("tc qdisc add dev eth0 root fq -f").may_be(&[1]));
        assert!(marks("tc qdisc add dev eth0 root fq").may_be(&[0]) && Marks::default().may_be(&[1]));
    }
}
