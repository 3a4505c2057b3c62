//! `tc filter`, up to the kind (`net/sched/cls_api.c`).

use crate::filter;
use crate::kernel::Kernel;
use crate::model::{HOOK_EGRESS, HOOK_INGRESS};
use crate::units;
use crate::words::{Words, abbreviates};

/// Parses the parent of a filter: a discipline, a class, or a hook.
fn filter_parent(word: &str) -> Option<u32> {
    match word {
        "ingress" => Some(HOOK_INGRESS),
        "egress" => Some(HOOK_EGRESS),
        "root" => Some(units::ROOT),
        _ => None,
    }
}

pub(crate) fn filter(kernel: &mut Kernel, number: usize, verb: &str, words: &mut Words) {
    let mut head = filter::Head::default();
    let mut device = None;
    while let Some(word) = words.peek() {
        if let Some(parent) = filter_parent(word) {
            head.parent = Some(parent);
        } else if word == "dev" {
            words.next();
            device = words.peek();
        } else if abbreviates(word, "block") && word.len() > 1 {
            return kernel
                .log
                .not_modelled(number, "perhop does not read shared blocks of filters (`block N`)");
        } else if !head.take(kernel, number, words) {
            break;
        }
        words.next();
    }
    let Some(name) = device else {
        return kernel.refuse(number, "the command names no device: write dev NAME");
    };
    let device = kernel.device(name, number);
    filter::apply(kernel, number, verb, device, head, words);
}
