//! The model of the kernel state: devices with disciplines, classes and filters.

mod bits;
mod condition;
mod filter;

pub(crate) use bits::{Bits, ranges};
pub(crate) use condition::{Condition, Family};
pub(crate) use filter::{Action, Control, Filter, Police};

use std::collections::BTreeMap;

use crate::options::Options;
use crate::syntax::Kind;
use crate::units;

/// A network device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// The first line that names the device.
    pub(crate) line: usize,
    pub(crate) qdiscs: Vec<Qdisc>,
    /// Default queue length, packets (`ip link set … txqueuelen`).
    pub(crate) tx_queue_len: Option<u64>,
    pub(crate) mtu: Option<u64>,
    /// Lines that would have added a discipline, by its handle. tc or Linux refused them, or perhop does not
    /// recognize them.
    pub(crate) without_effect: BTreeMap<u32, usize>,
}

/// Default queue length, packets: `DEFAULT_TX_QUEUE_LEN` of `include/net/pkt_sched.h`.
const TX_QUEUE_LEN: u64 = 1000;
/// Default MTU, bytes: Linux's `ETH_DATA_LEN`.
const MTU: u64 = 1500;
/// Ethernet header, bytes, which `qdisc_pkt_len` includes for departing packets: Linux's `ETH_HLEN`.
pub(crate) const ETHERNET: u64 = 14;

impl Device {
    pub(crate) fn tx_queue_len(&self) -> u64 {
        self.tx_queue_len.unwrap_or(TX_QUEUE_LEN).max(1)
    }
    /// Returns the longest frame, bytes (Linux: `psched_mtu`).
    pub(crate) fn frame(&self) -> u64 {
        self.mtu.unwrap_or(MTU) + ETHERNET
    }
    pub(crate) fn at(&self, place: Place) -> Option<usize> {
        self.qdiscs.iter().position(|qdisc| qdisc.place == place)
    }
    /// Returns the discipline with the major number of `id`.
    pub(crate) fn of_major(&self, id: u32) -> Option<usize> {
        let major = id & 0xffff_0000;
        self.qdiscs
            .iter()
            .position(|qdisc| major != 0 && qdisc.handle == major && qdisc.place != Place::Hooks)
    }
    /// Returns that the device has no discipline `handle`, and the line that should have added it.
    pub(crate) fn without_qdisc(&self, handle: u32) -> String {
        let line = self.without_effect.get(&handle);
        let because = line.map_or_else(String::new, |line| format!(" (line {line} does not add it)"));
        format!("{} has no qdisc {}{because}", self.name, units::shown_id(handle))
    }
    pub(crate) fn root(&self) -> Option<&Qdisc> {
        self.at(Place::Root).map(|index| &self.qdiscs[index])
    }
    pub(crate) fn child(&self, class: u32) -> Option<&Qdisc> {
        self.at(Place::Class(class)).map(|index| &self.qdiscs[index])
    }
    pub(crate) fn hooks(&self) -> Option<&Qdisc> {
        self.at(Place::Hooks).map(|index| &self.qdiscs[index])
    }
    /// Removes a discipline and all disciplines below it. Returns their lines.
    pub(crate) fn remove(&mut self, index: usize) -> Vec<usize> {
        let mut removed = vec![self.qdiscs.remove(index)];
        let mut at = 0;
        while at < removed.len() {
            let major = removed[at].handle;
            let is_below =
                |qdisc: &Qdisc| matches!(qdisc.place, Place::Class(id) if id & 0xffff_0000 == major);
            while let Some(index) = self.qdiscs.iter().position(is_below) {
                removed.push(self.qdiscs.remove(index));
            }
            at += 1;
        }
        removed.iter().flat_map(Qdisc::lines).collect()
    }
    /// Returns an unused handle, from 8001: on, as the kernel assigns them.
    pub(crate) fn free_handle(&self) -> u32 {
        let taken = |handle: u32| self.qdiscs.iter().any(|qdisc| qdisc.handle == handle);
        (0x8001..=0xfffe_u32).map(|major| major << 16).find(|handle| !taken(*handle)).unwrap_or(0xfffe_0000)
    }
}

/// The parent of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Root,
    /// The class with this number.
    Class(u32),
    /// `ingress` or `clsact`: filters without a queue.
    Hooks,
}

/// A queueing discipline.
#[derive(Clone, Debug)]
pub(crate) struct Qdisc {
    pub(crate) kind: &'static Kind,
    pub(crate) handle: u32,
    pub(crate) place: Place,
    pub(crate) line: usize,
    pub(crate) options: Options,
    /// The size table: overhead per packet in addition to its frame.
    pub(crate) stab: Option<Options>,
    pub(crate) classes: Vec<Class>,
    pub(crate) filters: Vec<Filter>,
    /// The virtual queues of GRED.
    pub(crate) rows: Vec<(usize, Options)>,
}

impl Qdisc {
    fn lines(&self) -> Vec<usize> {
        let classes = self.classes.iter().map(|class| class.line);
        let filters = self.filters.iter().flat_map(|filter| filter.lines.iter().copied());
        let rows = self.rows.iter().map(|(line, _)| *line);
        [self.line].into_iter().chain(classes).chain(filters).chain(rows).collect()
    }
    pub(crate) fn class(&self, id: u32) -> Option<&Class> {
        self.classes.iter().find(|class| class.id == id)
    }
    /// Returns the filters at `parent` in the kernel's order: by preference, then by age.
    pub(crate) fn filters_at(&self, parent: u32) -> Vec<&Filter> {
        let mut found: Vec<&Filter> = self.filters.iter().filter(|filter| filter.parent == parent).collect();
        found.sort_by_key(|filter| filter.preference);
        found
    }
}

/// A class.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) id: u32,
    /// The enclosing class; `None` directly below the discipline.
    pub(crate) parent: Option<u32>,
    pub(crate) line: usize,
    pub(crate) options: Options,
}

/// Hook numbers: `TC_H_CLSACT` with `TC_H_MIN_INGRESS` and `TC_H_MIN_EGRESS`.
pub(crate) const HOOK_INGRESS: u32 = 0xffff_fff2;
pub(crate) const HOOK_EGRESS: u32 = 0xffff_fff3;
pub(crate) const HOOKS: u32 = 0xffff_0000;
