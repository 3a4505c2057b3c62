//! [`Head`]: the part of a filter before the kind.

use crate::kernel::Kernel;
use crate::model::Family;
use crate::units;
use crate::words::{Words, abbreviates};

/// The part of a filter before the kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) parent: Option<u32>,
    pub(crate) handle: Option<String>,
    pub(crate) preference: Option<u32>,
    pub(crate) protocol: Option<String>,
    pub(crate) chain: Option<u32>,
}

impl Head {
    /// Reads the option of the next word. Returns `false` if the word is not an option of this part.
    pub(crate) fn take(&mut self, kernel: &mut Kernel, number: usize, words: &mut Words) -> bool {
        let Some(word) = words.peek() else { return false };
        let is = |full: &str, least: usize| word.len() >= least && abbreviates(word, full);
        let value = |words: &mut Words| {
            words.next();
            words.peek().unwrap_or_default().to_owned()
        };
        if word == "parent" {
            let text = value(words);
            self.parent = units::class_id(&text);
            if self.parent.is_none() {
                kernel.refuse(number, format!("`parent {text}`: write a number such as 1: or 1:10"));
            }
        } else if word == "handle" {
            self.handle = Some(value(words));
        } else if is("preference", 2) || is("priority", 2) && !is("protocol", 3) {
            let text = value(words);
            self.preference =
                units::integer(&text, 0).filter(|number| *number <= 0xffff).map(|number| number as u32);
            if self.preference.is_none() {
                kernel.refuse(number, format!("`{word} {text}`: write a number up to 65535"));
            }
        } else if is("protocol", 3) {
            self.protocol = Some(value(words));
        } else if is("chain", 2) {
            let text = value(words);
            self.chain = units::integer(&text, 0).map(|number| number as u32);
        } else if is("estimator", 3) {
            value(words);
            value(words);
        } else {
            return false;
        }
        true
    }

    pub(super) fn family(&self) -> Option<Family> {
        match self.protocol.as_deref() {
            None | Some("all") => Some(Family::Any),
            Some("ip" | "ipv4" | "0x800" | "0x0800" | "2048") => Some(Family::Four),
            Some("ipv6" | "ip6" | "0x86dd" | "34525") => Some(Family::Six),
            Some(_) => None,
        }
    }
}
