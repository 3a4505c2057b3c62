//! [`game_delays`]: the delays of a game, with the time until a player sees the effect of a command.

use perhop_qos::units::Time;

use super::quantile::nearest_rank;
use crate::counters::LoggedPacket;

/// The delays of the packets of a game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// The delays of commands, sorted.
    pub up: Vec<Time>,
    /// The delays of snapshots, sorted.
    pub down: Vec<Time>,
    /// The times from a command until its effect is visible, sorted. The effect is visible when the first
    /// snapshot arrives that was sent after the command had arrived.
    pub response: Vec<Time>,
    /// The number of snapshots whose delay exceeds the least delay by more than a tick.
    pub late: u64,
}

impl Ticks {
    /// Returns the `quantile` of sorted `delays`, seconds; NaN if the list is empty.
    pub fn quantile(delays: &[Time], quantile: f64) -> f64 {
        nearest_rank(delays, quantile)
    }
}

/// Returns the delays of a game from its `commands` and `snapshots`, each in order of arrival.
pub fn game_delays(commands: &[&LoggedPacket], snapshots: &[&LoggedPacket], tick: Time) -> Ticks {
    let sorted = |packets: &[&LoggedPacket]| {
        let mut delays: Vec<Time> = packets.iter().map(|packet| packet.delay).collect();
        delays.sort_unstable();
        delays
    };
    let (up, down) = (sorted(commands), sorted(snapshots));
    let least = down.first().copied().unwrap_or_default();
    let late = down.iter().filter(|delay| **delay > least + tick).count() as u64;
    // A snapshot that is sent after the arrival of a command contains the command. The first of these
    // snapshots to arrive shows the command to the player.
    let mut sent: Vec<(Time, Time)> =
        snapshots.iter().map(|packet| (packet.sent, packet.sent + packet.delay)).collect();
    sent.sort_unstable();
    for place in (1..sent.len()).rev() {
        sent[place - 1].1 = sent[place - 1].1.min(sent[place].1);
    }
    let seen = |command: &&&LoggedPacket| {
        let arrives = command.sent + command.delay;
        let place = sent.partition_point(|(sent, _)| *sent < arrives);
        sent.get(place).map(|(_, seen)| *seen - command.sent)
    };
    let mut response: Vec<Time> = commands.iter().filter_map(|command| seen(&command)).collect();
    response.sort_unstable();
    Ticks { up, down, response, late }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sent: u64, delay: u64) -> LoggedPacket {
        let ms = Time::from_milliseconds;
        LoggedPacket { flow: 0, number: 0, sent: ms(sent), bytes: 100, delay: ms(delay) }
    }

    /// The server sends snapshots at 0, 10, 20 … ms. A command that is sent at 1 ms arrives at 6 ms. It is in
    /// the snapshot of 10 ms, which arrives at 15 ms. A command that arrives exactly at a tick is in the
    /// snapshot of this tick. The snapshot of 30 ms is lost, and the snapshot of 40 ms contains the command
    /// of the lost snapshot.
    #[test]
    fn a_command_is_seen_in_the_first_snapshot_after_it() {
        let commands = [packet(1, 5), packet(15, 5), packet(22, 5)];
        let snapshots = [packet(0, 5), packet(10, 5), packet(20, 5), packet(40, 5)];
        let commands: Vec<&LoggedPacket> = commands.iter().collect();
        let snapshots: Vec<&LoggedPacket> = snapshots.iter().collect();
        let found = game_delays(&commands, &snapshots, Time::from_milliseconds(10));
        assert_eq!(found.response, [10, 14, 23].map(Time::from_milliseconds));
        assert_eq!(found.late, 0);
        assert_eq!(Ticks::quantile(&found.response, 0.5), 0.014);
        assert!(Ticks::quantile(&[], 0.5).is_nan());
    }

    /// A snapshot that overtakes another snapshot also contains the commands of the other one.
    #[test]
    fn an_overtaking_command_is_seen_first() {
        let (commands, snapshots) = ([packet(1, 5)], [packet(10, 30), packet(20, 5)]);
        let commands: Vec<&LoggedPacket> = commands.iter().collect();
        let found =
            game_delays(&commands, &snapshots.iter().collect::<Vec<_>>(), Time::from_milliseconds(10));
        assert_eq!(found.response, [Time::from_milliseconds(24)]);
        assert_eq!(found.late, 1, "25 ms above the least delay are more than a tick");
    }
}
