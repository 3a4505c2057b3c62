//! [`Tournament`]: the least of a fixed number of tags that change one at a time.

use std::hint::select_unpredictable;

use super::virtual_time::Virtual;

/// The player with the lowest tag, of equal ones the first, found by matches of two (Knuth, "The Art of Computer
/// Programming", volume 3, §5.2.3: tree selection). A new tag plays one match on each level; the others stand.
///
/// A player's number stands below its tag in one integer, so that no two are equal and one comparison settles a match.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Who meets whom: match `n` sends its winner on to match `n / 2`, and match 1 is the final. Those of the first round
    /// stand from the middle on.
    matches: Vec<[Entry; 2]>,
    winner: Entry,
}

/// A tag and a player's number, as one integer of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    high: u64,
    low: u64,
}

impl Entry {
    /// Who does not take part comes after everybody who does.
    const ABSENT: Entry = Entry { high: u64::MAX, low: u64::MAX };

    #[inline]
    fn new(tag: Virtual, player: usize) -> Entry {
        let entry = tag << Tournament::DIGITS | player as Virtual;
        Entry { high: (entry >> 64) as u64, low: entry as u64 }
    }
    #[inline]
    fn value(self) -> Virtual {
        Virtual::from(self.high) << 64 | Virtual::from(self.low)
    }
    /// The lower of both. Which it is nobody can foretell: no branch asks, which holds only for halves that a register takes.
    #[inline]
    fn min(self, other: Entry) -> Entry {
        let lower = other.value() < self.value();
        Entry {
            high: select_unpredictable(lower, other.high, self.high),
            low: select_unpredictable(lower, other.low, self.low),
        }
    }
}

impl Tournament {
    /// Binary digits of a player's number: as many as [virtual times](super::virtual_time) leave unused.
    const DIGITS: u32 = 12;
    /// How many players there can be.
    pub(super) const MOST_PLAYERS: usize = 1 << Tournament::DIGITS;

    /// `players` who do not take part yet, at most [`MOST_PLAYERS`](Tournament::MOST_PLAYERS).
    pub(super) fn new(players: usize) -> Tournament {
        let size = players.next_power_of_two().max(2);
        Tournament { matches: vec![[Entry::ABSENT; 2]; size], winner: Entry::ABSENT }
    }
    /// From now on the tag of `player` is `tag`; without one it does not take part.
    #[inline]
    pub(super) fn set(&mut self, player: usize, tag: Option<Virtual>) {
        let mut winner = tag.map_or(Entry::ABSENT, |tag| Entry::new(tag, player));
        let mut place = self.matches.len() + player;
        while place > 1 {
            let sides = &mut self.matches[place / 2];
            sides[place % 2] = winner;
            winner = winner.min(sides[1 - place % 2]);
            place /= 2;
        }
        self.winner = winner;
    }
    /// Who has the lowest tag.
    #[inline]
    pub(super) fn winner(&self) -> Option<usize> {
        let player = self.winner.low as usize % Tournament::MOST_PLAYERS;
        (self.winner != Entry::ABSENT).then_some(player)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first of the lowest tags, looked for one by one.
    fn first_of_lowest(tags: &[Option<Virtual>]) -> Option<usize> {
        let taking_part = tags.iter().enumerate().filter_map(|(player, tag)| tag.map(|tag| (player, tag)));
        taking_part.min_by_key(|(_, tag)| *tag).map(|(player, _)| player)
    }

    proptest! {
        #[test]
        fn the_winner_is_the_first_of_the_lowest(
            players in 1usize..40,
            // Few different tags, so that many are equal; some up to the 116 digits that a virtual time may have.
            changes in prop::collection::vec((0usize..40, 0u32..5, 0u32..3), 1..200),
        ) {
            let mut tags = vec![None; players];
            let mut tournament = Tournament::new(players);
            prop_assert_eq!(tournament.winner(), None);
            for (player, high, low) in changes {
                let player = player % players;
                let tag = (high < 4).then_some(Virtual::from(high) << 114 | Virtual::from(low));
                tags[player] = tag;
                tournament.set(player, tag);
                prop_assert_eq!(tournament.winner(), first_of_lowest(&tags));
            }
        }
    }
}
