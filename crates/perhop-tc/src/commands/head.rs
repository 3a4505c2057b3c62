//! The part of a command before the options: device, parent, handle and kind.

use perhop_lint::LineState;

use crate::kernel::Kernel;
use crate::model::HOOKS;
use crate::nearest::suggestion;
use crate::options::{self, Options, Place as At};
use crate::syntax::{self, Kind, STAB};
use crate::units;
use crate::words::{Words, abbreviates};

/// The part of a command before the kind.
#[derive(Default)]
pub(crate) struct Head<'a> {
    pub(crate) device: Option<&'a str>,
    pub(crate) handle: Option<u32>,
    pub(crate) parent: Option<u32>,
    pub(crate) class: Option<u32>,
    pub(crate) stab: Option<Options>,
    pub(crate) kind: Option<&'a str>,
}

/// Parses this part.
pub(super) fn head<'a>(
    kernel: &mut Kernel,
    number: usize,
    object: &str,
    words: &mut Words<'a>,
) -> Option<Head<'a>> {
    let mut head = Head::default();
    while let Some(word) = words.next() {
        match word {
            "dev" => head.device = words.next(),
            "root" => head.parent = Some(units::ROOT),
            "ingress" | "clsact" if object == "qdisc" => {
                head.parent = Some(HOOKS);
                head.kind = Some(word);
                // `tc qdisc add dev eth0 handle ffff: ingress`: only the kind follows.
                return Some(head);
            }
            "parent" | "classid" => {
                let text = words.next().unwrap_or_default();
                let Some(id) = units::class_id(text) else {
                    kernel.refuse(number, format!("`{word} {text}`: write a number such as 1:10"));
                    return None;
                };
                *if word == "parent" { &mut head.parent } else { &mut head.class } = Some(id);
            }
            "handle" if object == "qdisc" => {
                let text = words.next().unwrap_or_default();
                let Some(handle) = units::handle(text) else {
                    kernel.refuse(number, format!("`handle {text}`: write a number and a colon, such as 1:"));
                    return None;
                };
                head.handle = Some(handle);
            }
            "stab" => head.stab = Some(stab(kernel, number, words)?),
            "ingress_block" | "egress_block" => {
                words.next();
                kernel.log.not_modelled(number, "perhop does not read shared blocks of filters (`block N`)");
            }
            word if abbreviates(word, "estimator") && word.len() > 2 => {
                words.next();
                words.next();
            }
            kind => {
                head.kind = Some(kind);
                return Some(head);
            }
        }
    }
    Some(head)
}

/// Reads the size table, up to the kind or the next word that precedes it.
fn stab(kernel: &mut Kernel, number: usize, words: &mut Words) -> Option<Options> {
    let ends = |word: &str| {
        syntax::kind(word).is_some()
            || matches!(word, "root" | "parent" | "handle" | "dev" | "classid" | "refcnt")
    };
    options::read(&[STAB], words, At { line: number, of: "stab" }, ends, &mut kernel.log).ok()
}

/// Returns the kind `name`.
pub(super) fn kind_of(kernel: &mut Kernel, number: usize, name: &str) -> Option<&'static Kind> {
    let found = syntax::kind(name);
    if found.is_none() {
        let help = suggestion(name, syntax::kinds().map(|kind| kind.name));
        kernel.log.state(number, LineState::NotRecognized);
        kernel.log.note(number, format!("`{name}` is not a queueing discipline: {help}"));
    }
    found
}
