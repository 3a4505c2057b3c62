//! [`Tournament`]: the least of a fixed number of keys that change one at a time.

use std::hint::select_unpredictable;

use super::virtual_time::Virtual;

/// The player with the lowest key, of equal ones the first, found by matches of two (Knuth, "The Art of Computer
/// Programming", volume 3, §5.2.3: tree selection). A new key plays one match on each level; the others stand.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Who won at each place: the two above place `n` are `2n` and `2n + 1`, place 1 is the final, and the players
    /// themselves stand from the middle on.
    places: Vec<Winner>,
}

#[derive(Clone, Copy, Debug)]
struct Winner {
    key: Virtual,
    player: u32,
}

impl Tournament {
    /// The key of who does not take part: above that of everybody who does.
    ///
    /// Half of the range, so that a key may be raised by one.
    pub(super) const ABSENT: Virtual = 1 << 127;

    /// `players` who do not take part yet.
    pub(super) fn new(players: usize) -> Tournament {
        let size = players.next_power_of_two();
        let absent = |player| Winner { key: Tournament::ABSENT, player };
        // Whoever wins a match between two who are absent, the final's key says so.
        let places = (0..2 * size).map(|place| absent(place.saturating_sub(size) as u32)).collect();
        Tournament { places }
    }
    /// The key of `player` is now `key`.
    #[inline]
    pub(super) fn set(&mut self, player: usize, key: Virtual) {
        let mut place = self.places.len() / 2 + player;
        let mut winner = Winner { key, player: player as u32 };
        self.places[place] = winner;
        while place > 1 {
            let other = self.places[place ^ 1];
            // Of equal keys that on the left wins, which stands at an even place. Who wins nobody can foretell: no branch asks.
            let loses = other.key < winner.key + Virtual::from(place as u64 & 1);
            winner.key = select_unpredictable(loses, other.key, winner.key);
            winner.player = select_unpredictable(loses, other.player, winner.player);
            place /= 2;
            self.places[place] = winner;
        }
    }
    /// Who has the lowest key.
    #[inline]
    pub(super) fn winner(&self) -> Option<usize> {
        let winner = self.places[1];
        (winner.key < Tournament::ABSENT).then_some(winner.player as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first of the lowest keys, looked for one by one.
    fn first_of_lowest(keys: &[Virtual]) -> Option<usize> {
        let taking_part = keys.iter().enumerate().filter(|(_, key)| **key < Tournament::ABSENT);
        taking_part.min_by_key(|(_, key)| **key).map(|(player, _)| player)
    }

    proptest! {
        #[test]
        fn the_winner_is_the_first_of_the_lowest(
            players in 1usize..40,
            // Few different keys, so that many are equal; some beyond 64 bits, one that means absence.
            changes in prop::collection::vec((0usize..40, 0u32..5, 0u32..3), 1..200),
        ) {
            let mut keys = vec![Tournament::ABSENT; players];
            let mut tournament = Tournament::new(players);
            prop_assert_eq!(tournament.winner(), None);
            for (player, high, low) in changes {
                let player = player % players;
                let key = if high == 4 { Tournament::ABSENT } else { Virtual::from(high) << 100 | Virtual::from(low) };
                keys[player] = key;
                tournament.set(player, key);
                prop_assert_eq!(tournament.winner(), first_of_lowest(&keys));
            }
        }
    }
}
