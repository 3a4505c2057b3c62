//! The feed trees of the kernel: the classes of HTB that have packets, their priorities, and the classes
//! whose tokens they use.

use super::bucket::Mode;
use super::{Htb, LEVELS, PRIORITIES};

/// The priorities whose bits are set in `mask`.
fn priorities(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |priority| mask & 1 << priority > 0)
}

impl Htb {
    /// Records that `child`, which had no packets, now has packets.
    pub(super) fn activate(&mut self, child: usize) {
        self.classes[child].active = 1 << self.classes[child].priority;
        self.join(child);
    }
    /// Records that `child` has no more packets.
    pub(super) fn deactivate(&mut self, child: usize) {
        self.leave(child);
        self.classes[child].active = 0;
    }
    /// Changes the mode of class `index` to `mode`.
    pub(super) fn set_mode(&mut self, index: usize, mode: Mode) {
        if self.classes[index].active == 0 {
            self.classes[index].mode = mode;
            return;
        }
        self.leave(index);
        self.classes[index].mode = mode;
        self.join(index);
    }

    /// Adds class `index` to the classes that may send at their own rate, or to the classes that borrow from
    /// its parent. A parent that had no borrower at that priority is added in the same way
    /// (`htb_activate_prios`).
    fn join(&mut self, mut index: usize) {
        let mut mask = self.classes[index].active;
        while self.classes[index].mode == Mode::MayBorrow && mask > 0 {
            let Some(parent) = self.classes[index].parent.map(usize::from) else { return };
            let (group, seat) = (self.classes[parent].inside, self.classes[index].feed_seat);
            for priority in priorities(mask) {
                let feed = &mut self.feeds[usize::from(group) * PRIORITIES + priority];
                if !feed.is_empty() {
                    mask &= !(1 << priority);
                }
                feed.join(seat);
            }
            self.classes[parent].active |= mask;
            index = parent;
        }
        let class = &self.classes[index];
        if class.mode == Mode::CanSend {
            let level = usize::from(class.level);
            self.levels[level].occupied |= mask;
            for priority in priorities(mask) {
                self.feeds[level * PRIORITIES + priority].join(class.row_seat);
            }
        }
    }

    /// Reverts [`join`](Htb::join). The caller must change the mode of `index` afterwards
    /// (`htb_deactivate_prios`).
    fn leave(&mut self, mut index: usize) {
        let mut mask = self.classes[index].active;
        while self.classes[index].mode == Mode::MayBorrow && mask > 0 {
            let Some(parent) = self.classes[index].parent.map(usize::from) else { return };
            let (group, seat) = (self.classes[parent].inside, self.classes[index].feed_seat);
            let left = mask;
            mask = 0;
            for priority in priorities(left) {
                let feed = &mut self.feeds[usize::from(group) * PRIORITIES + priority];
                feed.leave(seat);
                if feed.is_empty() {
                    mask |= 1 << priority;
                }
            }
            self.classes[parent].active &= !mask;
            index = parent;
        }
        let class = &self.classes[index];
        if class.mode == Mode::CanSend {
            let level = usize::from(class.level);
            for priority in priorities(mask) {
                let feed = &mut self.feeds[level * PRIORITIES + priority];
                feed.leave_row(class.row_seat);
                if feed.is_empty() {
                    self.levels[level].occupied &= !(1 << priority);
                }
            }
        }
    }

    /// Selects the class with a queue whose turn it is at `level` and `priority`. The search begins with the
    /// class whose turn it is at the level, and continues with its inner classes whose turn it is. The turn
    /// of a class ends when all its inner classes have had their turn.
    pub(super) fn whose_turn(&mut self, level: usize, priority: usize) -> usize {
        let (mut groups, mut depth) = ([level; LEVELS], 0);
        loop {
            let group = groups[depth];
            match self.feeds[group * PRIORITIES + priority].next_class() {
                Some(seat) => {
                    let index = usize::from(self.groups[group].members[usize::from(seat)]);
                    let class = &self.classes[index];
                    if class.level == 0 {
                        return index;
                    }
                    depth += 1;
                    groups[depth] = class.inside.into();
                }
                None if depth > 0 => {
                    depth -= 1;
                    self.feeds[groups[depth] * PRIORITIES + priority].pass();
                }
                None => {}
            }
        }
    }

    /// Records that `child` has sent `length` bytes with the tokens of a class at `level`. Ends the turn of
    /// `child` if the bytes exceed the remaining bytes of its turn (`htb_dequeue_tree`).
    pub(super) fn count_turn(&mut self, child: usize, level: usize, priority: usize, length: u32) {
        let class = &mut self.classes[child];
        let deficit = &mut class.deficits[level];
        *deficit -= i64::from(length);
        if *deficit < 0 {
            *deficit += class.quantum;
            let around = class.parent.filter(|_| level > 0).map(usize::from);
            let group = around.map_or(0, |parent| usize::from(self.classes[parent].inside));
            self.feeds[group * PRIORITIES + priority].pass();
        }
    }
}
