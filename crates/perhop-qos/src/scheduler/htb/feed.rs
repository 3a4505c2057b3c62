//! [`Feed`]: the classes of HTB that take turns at one priority, in the order of the configuration.

/// The classes that take turns: the classes of a level, or the inner classes of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// The class of each seat, in the order of the configuration. The kernel orders classes by their numbers.
    pub(super) members: Vec<u16>,
}

/// The active classes of a group at one priority, and the class whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Feed {
    /// One bit for each seat.
    present: Box<[u64]>,
    /// The seat whose turn it is. `None` after the last seat.
    turn: Option<u16>,
    /// The seat that was removed during its turn. At the next selection, the next seat gets the turn.
    left: Option<u16>,
}

impl Feed {
    pub(super) fn new(seats: usize) -> Feed {
        Feed { present: vec![0; seats.div_ceil(64)].into_boxed_slice(), turn: None, left: None }
    }
    pub(super) fn is_empty(&self) -> bool {
        self.present.iter().all(|word| *word == 0)
    }
    pub(super) fn join(&mut self, seat: u16) {
        self.present[usize::from(seat) / 64] |= 1 << (seat % 64);
    }
    /// Removes `seat` from the borrowing classes. Records whether the seat had the turn
    /// (`htb_deactivate_prios`).
    pub(super) fn leave(&mut self, seat: u16) {
        self.present[usize::from(seat) / 64] &= !(1 << (seat % 64));
        if self.turn == Some(seat) {
            (self.turn, self.left) = (None, Some(seat));
        }
    }
    /// Removes `seat` from its level. If the seat had the turn, the next seat gets the turn
    /// (`htb_remove_class_from_row`).
    pub(super) fn leave_row(&mut self, seat: u16) {
        if self.turn == Some(seat) {
            self.pass();
        }
        self.present[usize::from(seat) / 64] &= !(1 << (seat % 64));
    }
    /// Advances the turn to the next seat, or past the last one.
    pub(super) fn pass(&mut self) {
        self.turn = self.turn.and_then(|turn| self.at_or_after(turn + 1));
    }
    /// Returns the seat whose turn it is. After the last seat, returns `None` and advances the turn to the
    /// first seat (`htb_lookup_leaf`).
    pub(super) fn next_class(&mut self) -> Option<u16> {
        if let (None, Some(left)) = (self.turn, self.left) {
            self.turn = self.at_or_after(left);
        }
        self.left = None;
        let turn = self.turn;
        if turn.is_none() {
            self.turn = self.at_or_after(0);
        }
        turn
    }
    fn at_or_after(&self, seat: u16) -> Option<u16> {
        let (first, bit) = (usize::from(seat) / 64, seat % 64);
        let mut mask = u64::MAX << bit;
        for (index, word) in self.present.iter().enumerate().skip(first) {
            let found = word & mask;
            if found > 0 {
                return Some((index * 64) as u16 + found.trailing_zeros() as u16);
            }
            mask = u64::MAX;
        }
        None
    }
}
