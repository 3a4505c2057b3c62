//! [`Tournament`]: finds the lowest of a fixed number of tags, of which one changes at a time.

use std::hint::select_unpredictable;

use super::virtual_time::Virtual;

/// Finds the player with the lowest tag, or the first of several players with equal tags. Each match has four
/// players (Knuth, "The Art of Computer Programming", volume 3, §5.2.3: tree selection). A new tag changes
/// one match in each round, and the results of all other matches remain valid.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// The four entries of each match. The players of match `n` are the winners of matches `4n + 1` to `4n +
    /// 4`. Match 0 is the final.
    matches: Vec<[Entry; 4]>,
    /// The index of the first match of the first round.
    first_round: usize,
    /// Whether the first round has two matches, so that two players reach the final.
    has_two_matches: bool,
    /// The winner of the final.
    winner: Entry,
}

/// A tag, followed by the number of the player in the low bits. All entries are different, and one comparison
/// finds the lower one.
type Entry = Virtual;

/// The entry of an absent player. It is higher than all other entries.
const ABSENT: Entry = Entry::MAX;
/// The number of bits for the number of a player. [Virtual times](super::virtual_time) do not use these bits.
const DIGITS: u32 = 12;

impl Tournament {
    /// The maximum number of players.
    pub(super) const MOST_PLAYERS: usize = 1 << DIGITS;

    /// Creates a tournament of `players` players, at most [`MOST_PLAYERS`](Tournament::MOST_PLAYERS). All
    /// players are absent.
    pub(super) fn new(players: usize) -> Tournament {
        let (mut first_round, mut matches) = (0, 1);
        while 4 * matches < players {
            first_round += matches;
            matches *= 4;
        }
        let has_two_matches = (5..=8).contains(&players);
        let matches = vec![[ABSENT; 4]; first_round + matches];
        Tournament { matches, first_round, has_two_matches, winner: ABSENT }
    }
    /// Sets the tag of `player`, or makes the player absent if `tag` is `None`.
    #[inline]
    pub(super) fn set(&mut self, player: usize, tag: Option<Virtual>) {
        self.enter(player, tag.map_or(ABSENT, |tag| tag << DIGITS | player as Entry));
    }
    /// Sets the entry of `player`. The first two rounds are not in a loop, because the compiler would compile
    /// the comparisons in a loop to branches.
    #[inline(never)]
    fn enter(&mut self, player: usize, entry: Entry) {
        let (index, side) = (self.first_round + player / 4, player % 4);
        let mut winner = play(&mut self.matches[index], side, entry);
        if self.has_two_matches {
            winner = play_final_of_two(&mut self.matches[0], index - 1, winner);
        } else if index > 0 {
            let (index, side) = ((index - 1) / 4, (index - 1) % 4);
            winner = play(&mut self.matches[index], side, winner);
            if index > 0 {
                winner = self.play_later_rounds(index, winner);
            }
        }
        self.winner = winner;
    }
    /// Plays the rounds after match `index`, which `winner` has won. Returns the winner of the final.
    #[inline(never)]
    fn play_later_rounds(&mut self, mut index: usize, mut winner: Entry) -> Entry {
        while index > 0 {
            let side = (index - 1) % 4;
            index = (index - 1) / 4;
            winner = play_alone(&mut self.matches[index], side, winner);
        }
        winner
    }
    /// The player with the lowest tag.
    #[inline]
    pub(super) fn winner(&self) -> Option<usize> {
        let player = self.winner as usize % Tournament::MOST_PLAYERS;
        // The value was stored in two halves and is therefore loaded in two halves, because the processor
        // cannot forward two stores to one load.
        let is_absent = (self.winner >> 64) as u64 == (ABSENT >> 64) as u64;
        (!is_absent).then_some(player)
    }
    /// Returns the lowest tag, or `None` if all players are absent.
    #[inline]
    pub(super) fn least(&self) -> Option<Virtual> {
        self.winner().map(|_| self.lower_bound())
    }
    /// The lowest tag, or a value above all tags if all players are absent.
    #[inline]
    pub(super) fn lower_bound(&self) -> Virtual {
        self.winner >> DIGITS
    }
}

/// Calls [`play`]. This function is not inlined, so that it is outside of the loop of its caller.
#[inline(never)]
fn play_alone(sides: &mut [Entry; 4], side: usize, entry: Entry) -> Entry {
    play(sides, side, entry)
}

/// Sets the entry of `side`, and returns the winner of the match.
#[expect(clippy::inline_always, reason = "a call takes as long as a match")]
#[inline(always)]
fn play(sides: &mut [Entry; 4], side: usize, entry: Entry) -> Entry {
    // The other entries are compared first, because they are available before the new entry.
    let lowest_other = lower(lower(sides[side ^ 1], sides[side ^ 2]), sides[side ^ 3]);
    sides[side] = entry;
    lower(lowest_other, entry)
}

/// Plays a final like [`play`], if only the first two sides have players.
#[expect(clippy::inline_always, reason = "a call takes as long as a match")]
#[inline(always)]
fn play_final_of_two(sides: &mut [Entry; 4], side: usize, entry: Entry) -> Entry {
    sides[side % 2] = entry;
    lower(sides[(side % 2) ^ 1], entry)
}

/// The lower of two entries. The code has no branch, because a branch would often be mispredicted. The two
/// halves are selected separately, because a selection of 128 bits would be compiled to a branch.
#[inline]
fn lower(first: Entry, other: Entry) -> Entry {
    let is_other = other < first;
    let half = |shift: u32| select_unpredictable(is_other, (other >> shift) as u64, (first >> shift) as u64);
    Entry::from(half(64)) << 64 | Entry::from(half(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first player with the lowest tag, found by a linear search.
    fn first_of_lowest(tags: &[Option<Virtual>]) -> Option<usize> {
        let taking_part = tags.iter().enumerate().filter_map(|(player, tag)| tag.map(|tag| (player, tag)));
        taking_part.min_by_key(|(_, tag)| *tag).map(|(player, _)| player)
    }

    proptest! {
        #[test]
        fn the_winner_is_the_first_of_the_lowest(
            players in 1usize..70,
            // There are only a few different tags, so that many are equal. Some tags have 116 bits, the
            // largest size of a virtual time.
            changes in prop::collection::vec((0usize..70, 0u32..5, 0u32..3), 1..300),
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
                let least = tags.iter().copied().flatten().min();
                prop_assert_eq!(tournament.least(), least);
                prop_assert_eq!(tournament.lower_bound(), least.unwrap_or(ABSENT >> DIGITS));
            }
        }
    }
}
