//! Commands about devices: `ip` and `ethtool`.

use perhop_lint::LineState;

use super::Session;
use crate::units;
use crate::words::abbreviates;

impl Session {
    /// Reads `ethtool`. Reports changes of offloads (`-K`) and of the speed of a device (`-s`). Other options
    /// show counters or set the rings of a device, which has no effect in perhop.
    pub(super) fn ethtool(&mut self, number: usize, words: &[String]) {
        let what = match words.get(1).map(String::as_str) {
            Some("-K" | "--features" | "--offload") => {
                "in Linux offloads join packets, and policers and queues count a joined packet as one"
            }
            Some("-s" | "--change") => {
                "the device sends at the rate of its link: set this rate with `--rate` or in the scenario"
            }
            _ => return self.mark_irrelevant(number, "the line has no effect on the packets of a run"),
        };
        self.kernel.log.not_modelled(number, format!("perhop does not read `ethtool`: {what}"));
    }

    /// Executes `ip`: sets the queue length and the MTU of a device, and creates devices.
    pub(super) fn ip(&mut self, number: usize, words: &[String]) {
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let is_set =
            words.first().is_some_and(|word| abbreviates(word, "link")) && words.get(1) == Some(&"set");
        let after = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1));
        let length = ["txqueuelen", "txqlen", "qlen"].into_iter().find_map(after);
        let mtu = after("mtu");
        if is_route(&words) {
            return self
                .kernel
                .log
                .not_modelled(number, "perhop uses the routes of the scenario, or of `--route`");
        }
        if !is_set || (length.is_none() && mtu.is_none()) {
            return self
                .mark_irrelevant(number, "perhop uses the devices, addresses and routes of the scenario");
        }
        let name = if words.get(2) == Some(&"dev") { words.get(3) } else { words.get(2) };
        let Some(name) = name else { return self.mark_irrelevant(number, "help") };
        let index = self.kernel.device(name, number);
        let values = [length, mtu].map(|text| text.and_then(|text| units::integer(text, 0)));
        let device = &mut self.kernel.devices[index];
        device.tx_queue_len = values[0].or(device.tx_queue_len);
        device.mtu = values[1].or(device.mtu);
        self.kernel.log.state(number, LineState::Modelled);
    }
}

/// Whether `ip` changes routes, or the rules that select a routing table.
fn is_route(words: &[&str]) -> bool {
    let objects = words.iter().skip_while(|word| word.starts_with('-'));
    let [object, verb] = [0, 1].map(|place| objects.clone().nth(place).copied().unwrap_or_default());
    let is_object = abbreviates(object, "route") || object.len() > 1 && abbreviates(object, "rule");
    let changes = ["add", "append", "change", "replace", "delete"];
    is_object && changes.into_iter().any(|change| !verb.is_empty() && abbreviates(verb, change))
}
