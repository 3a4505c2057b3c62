//! Reading of the output of `tc class show`.

use perhop_lint::LineState;

use super::{Open, Shown};
use crate::commands::add_class;
use crate::kernel::Kernel;
use crate::model::{Place, Qdisc};
use crate::options::Options;
use crate::syntax::{self, Kind};
use crate::units;
use crate::words::Words;

impl Shown {
    pub(super) fn shown_class(&mut self, kernel: &mut Kernel, number: usize, words: &mut Words) {
        kernel.log.state(number, LineState::Modelled);
        self.open = Some((Open::Counters, number));
        let Some(kind) = words.next().and_then(syntax::kind) else { return };
        let Some(id) = words.next().and_then(units::class_id) else { return };
        let mut parent = units::ROOT;
        while let Some(word) = words.peek() {
            match word {
                "root" => {}
                "parent" => {
                    words.next();
                    parent = words.peek().and_then(units::class_id).unwrap_or(units::ROOT);
                }
                "leaf" | "dev" => {
                    words.next();
                }
                _ => break,
            }
            words.next();
        }
        // The classes of fq_codel and similar disciplines are flows, whose lines are statistics.
        if !matches!(kind.name, "htb" | "hfsc" | "drr" | "ets" | "qfq" | "prio" | "tbf" | "mq") {
            kernel.log.note(number, "a queue of a flow");
            return;
        }
        if kind.class.is_some_and(<[_]>::is_empty) {
            return;
        }
        let by_number = kernel.devices.iter().position(|device| device.of_major(id).is_some());
        let device = match (&self.command, by_number) {
            (None, Some(device)) => device,
            _ => self.device_or_unnamed(kernel, number),
        };
        kernel.device_of_line = Some(device);
        Self::around(kernel, number, device, kind, id);
        add_class(kernel, number, device, "replace", (kind, id, parent), words);
    }

    /// Adds the discipline that contains a class, because `tc class show` does not print disciplines.
    fn around(kernel: &mut Kernel, number: usize, device: usize, kind: &'static Kind, id: u32) {
        let handle = id & 0xffff_0000;
        let known = &mut kernel.devices[device];
        if known.of_major(id).is_some() || known.root().is_some() || handle == 0 {
            return;
        }
        let note = format!(
            "the output does not show {} {}: perhop assumes that it has no options and no default class",
            kind.name,
            units::shown_id(handle)
        );
        kernel.devices[device].qdiscs.push(Qdisc {
            kind,
            handle,
            place: Place::Root,
            line: number,
            options: Options::default(),
            stab: None,
            classes: Vec::new(),
            filters: Vec::new(),
            rows: Vec::new(),
        });
        kernel.log.note(number, note);
    }
}
