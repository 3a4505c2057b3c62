//! [`rate_calls`]: the rating of calls through classes, from the delays and losses of packets. [`playout_s`]:
//! the playout time of packets, which other modules also use.

use std::collections::BTreeMap;

use perhop_scenario::{AdaptiveBuffer, Codec, JitterBuffer, Planning};

use crate::emodel::{GREATEST_LOSS_PERCENT, LONGEST_DELAY_S, Path, opinion, rating};
use crate::results::{Table, Values};

/// The assumed telephones: their codec, their de-jitter buffer, and the distribution of losses.
#[derive(Clone, Copy, Debug)]
pub struct Telephony {
    /// The codec.
    pub codec: &'static Planning,
    /// The rule for the playout of packets.
    pub jitter_buffer: JitterBuffer,
    /// `BurstR` of G.107. It is 1 for random losses.
    pub burst_ratio: f64,
    /// The advantage factor A of G.107. It is 0 for wired telephones.
    pub advantage: f64,
}

/// The arrived and dropped packets of a class or of a call in one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivered<'a> {
    /// The number of the replication.
    pub replication: u64,
    /// The class.
    pub class: &'a str,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// The least delay, seconds. It is not valid if no packet arrived.
    pub least_s: f64,
    /// The mean delay, seconds. It is not valid if no packet arrived.
    pub mean_s: f64,
    /// The distribution of delays. Each bin has its upper edge in seconds and its number of packets.
    pub bins: Vec<(f64, u64)>,
}

/// A call of the scenario in one replication: a row of the table `calls`.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCall<'a> {
    /// The number of the replication.
    pub replication: u64,
    /// The class.
    pub class: &'a str,
    /// The name of the codec of the call.
    pub codec: &'a str,
    /// The rating of the call.
    pub rated: Rated,
}

/// The rating of a call in one replication. Unknown values are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rated {
    /// The transmission rating factor.
    pub r: Option<f64>,
    /// The mean opinion score.
    pub mos: Option<f64>,
    /// One-way delay from mouth to ear, seconds.
    pub mouth_to_ear_s: Option<f64>,
    /// Packets that arrive after their playout, percent of the delivered packets.
    pub late_percent: Option<f64>,
    /// Lost or late packets, percent of the delivered and dropped packets.
    pub lost_percent: f64,
}

/// A call through a class, with its ratings.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// The class.
    pub class: &'a str,
    /// The rating in each replication.
    pub rated: Vec<Rated>,
    /// The reason for a missing or unreliable rating; empty if the rating is reliable.
    pub remark: String,
}

/// The number of mean deviations that the playout adds to the mean delay (Ramjee et al. 1994, §2).
const DEVIATIONS: f64 = 4.0;

/// Returns the time from the sending of a packet to its playout under `rule`, seconds, for the packets in
/// `row`.
///
/// Algorithm 1 of Ramjee, Kurose, Towsley and Schulzrinne (INFOCOM 1994) plays packets d + 4 v after they
/// were sent. d and v are exponential averages of the delay and of its absolute deviation from d, over about
/// 500 packets. This function instead uses the values around which these averages vary: the mean delay and
/// the mean absolute deviation of the whole run. The result therefore does not depend on the first packet or
/// on the times of adaptation.
pub fn playout_s(rule: JitterBuffer, row: &Delivered) -> f64 {
    match rule {
        JitterBuffer::Fixed(waits) => row.least_s + waits.as_seconds(),
        JitterBuffer::Adaptive(AdaptiveBuffer { least, most }) => {
            let waits = DEVIATIONS * mean_deviation_s(row);
            row.mean_s + waits.max(least.as_seconds()).min(most.as_seconds())
        }
    }
}

fn mean_deviation_s(row: &Delivered) -> f64 {
    let counted: u64 = row.bins.iter().map(|(_, packets)| packets).sum();
    let deviations = row.bins.iter().map(|(edge, packets)| (edge - row.mean_s).abs() * *packets as f64);
    deviations.sum::<f64>() / counted as f64
}

/// Rates a call through each class of `rows`. The rows have one entry for each class and replication.
///
/// If a class has calls in `own`, the rating of the class is the mean of the ratings of these calls.
/// Otherwise, `telephony` determines the rating. Delays have the precision of their bin, 0.1 %.
pub fn rate_calls<'a>(rows: &[Delivered<'a>], own: &[OwnCall], telephony: &Telephony) -> Vec<Call<'a>> {
    let mut by_class: BTreeMap<(u64, &str), Vec<&OwnCall>> = BTreeMap::new();
    for call in own {
        by_class.entry((call.replication, call.class)).or_default().push(call);
    }
    let mut calls: Vec<(Call, &'static Planning)> = Vec::new();
    for row in rows {
        let own = by_class.get(&(row.replication, row.class));
        let (rated, codec) = match own {
            Some(own) => (mean_of(own), Codec::named(own[0].codec).map_or(telephony.codec, Codec::planning)),
            None => (rate(row, telephony), telephony.codec),
        };
        match calls.iter_mut().find(|(call, _)| call.class == row.class) {
            Some((call, _)) => call.rated.push(rated),
            None => calls.push((Call { class: row.class, rated: vec![rated], remark: String::new() }, codec)),
        }
    }
    let remarked = |(mut call, codec): (Call<'a>, &Planning)| {
        call.remark = remark(&call.rated, codec);
        call
    };
    calls.into_iter().map(remarked).collect()
}

/// Returns the mean rating of the calls of a class in one replication. A value is `None` if it is unknown for
/// one of the calls.
fn mean_of(own: &[&OwnCall]) -> Rated {
    let count = own.len() as f64;
    let mean = |value: fn(&Rated) -> Option<f64>| {
        own.iter().map(|call| value(&call.rated)).sum::<Option<f64>>().map(|sum| sum / count)
    };
    Rated {
        r: mean(|rated| rated.r),
        mos: mean(|rated| rated.mos),
        mouth_to_ear_s: mean(|rated| rated.mouth_to_ear_s),
        late_percent: mean(|rated| rated.late_percent),
        lost_percent: own.iter().map(|call| call.rated.lost_percent).sum::<f64>() / count,
    }
}

/// Rates a call with the packets in `row`.
pub fn rate(row: &Delivered, telephony: &Telephony) -> Rated {
    let counted: u64 = row.bins.iter().map(|(_, packets)| packets).sum();
    if row.delivered == 0 || counted == 0 {
        return Rated::default();
    }
    let playout = playout_s(telephony.jitter_buffer, row);
    let beyond = row.bins.iter().filter(|(edge, _)| *edge > playout);
    let late = beyond.map(|(_, packets)| packets).sum::<u64>() as f64 / counted as f64;
    let (delivered, dropped) = (row.delivered as f64, row.dropped as f64);
    let lost_percent = 100.0 * ((dropped + late * delivered) / (delivered + dropped));
    let Telephony { codec, burst_ratio, advantage, .. } = *telephony;
    let mouth_to_ear_s = playout + codec.delay().as_seconds();
    let r =
        rating(Path { delay_s: mouth_to_ear_s, loss_percent: lost_percent, burst_ratio, advantage }, codec);
    let (mos, late_percent) = (r.map(opinion), Some(100.0 * late));
    Rated { r, mos, mouth_to_ear_s: Some(mouth_to_ear_s), late_percent, lost_percent }
}

fn remark(rated: &[Rated], codec: &Planning) -> String {
    let delays: Vec<f64> = rated.iter().filter_map(|rating| rating.mouth_to_ear_s).collect();
    if delays.len() < rated.len() {
        let some = if delays.is_empty() { "" } else { " in a replication" };
        return format!("no packet arrived{some}");
    }
    if rated.iter().any(|rating| rating.r.is_none()) {
        return format!("G.113 has no Bpl of {} for losses", codec.words);
    }
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    if mean > LONGEST_DELAY_S || rated.iter().any(|rating| rating.lost_percent > GREATEST_LOSS_PERCENT) {
        return "G.107 applies only up to 500 ms and 20 % of loss".to_owned();
    }
    String::new()
}

/// Returns the calls of a scenario from the table `calls` of a run.
pub fn own_calls(calls: &Table) -> Vec<OwnCall<'_>> {
    let column = |name: &str| calls.column(name).expect("every run has this column");
    let [replication, class, codec, r, mos, mouth_to_ear, late, missing] =
        ["replication", "class", "codec", "r", "mos", "mouth_to_ear_s", "late_percent", "missing_percent"]
            .map(column);
    let known = |values: &Values, row: usize| values.number(row).filter(|value| !value.is_nan());
    let row = |row: usize| OwnCall {
        replication: replication.number(row).unwrap_or_default() as u64,
        class: class.text(row).unwrap_or_default(),
        codec: codec.text(row).unwrap_or_default(),
        rated: Rated {
            r: known(r, row),
            mos: known(mos, row),
            mouth_to_ear_s: known(mouth_to_ear, row),
            late_percent: known(late, row),
            lost_percent: known(missing, row).unwrap_or_default(),
        },
    };
    (0..calls.rows()).map(row).collect()
}

/// Returns the packets of each class from the tables `classes` and `histogram` of a run.
pub fn delivered<'a>(classes: &'a Table, histogram: &'a Table) -> Vec<Delivered<'a>> {
    let column = |table: &'a Table, name: &str| table.column(name).expect("every run has this column");
    let number = |values: &Values, row: usize| values.number(row).unwrap_or(f64::NAN);
    let mut bins: BTreeMap<(u64, &str), Vec<(f64, u64)>> = BTreeMap::new();
    let [replication, class, quantity, edge, packets] =
        ["replication", "class", "quantity", "up_to_s", "packets"].map(|name| column(histogram, name));
    for row in (0..histogram.rows()).filter(|row| quantity.text(*row) == Some("delay")) {
        let key = (number(replication, row) as u64, class.text(row).unwrap_or_default());
        bins.entry(key).or_default().push((number(edge, row), number(packets, row) as u64));
    }
    let [replication, class, delivered, dropped, least, mean] =
        ["replication", "class", "delivered_packets", "dropped_packets", "delay_min_s", "delay_mean_s"]
            .map(|name| column(classes, name));
    let row = |row: usize| {
        let key = (number(replication, row) as u64, class.text(row).unwrap_or_default());
        Delivered {
            replication: key.0,
            class: key.1,
            delivered: number(delivered, row) as u64,
            dropped: number(dropped, row) as u64,
            least_s: number(least, row),
            mean_s: number(mean, row),
            bins: bins.remove(&key).unwrap_or_default(),
        }
    };
    (0..classes.rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use perhop_qos::units::Time;

    use super::*;

    fn telephony(codec: Codec, jitter_buffer: JitterBuffer) -> Telephony {
        Telephony { codec: codec.planning(), jitter_buffer, burst_ratio: 1.0, advantage: 0.0 }
    }

    fn fixed(ms: u64) -> JitterBuffer {
        JitterBuffer::Fixed(Time::from_milliseconds(ms))
    }

    /// Returns a class with the delays in `bins` and `dropped` dropped packets.
    fn class(bins: &[(f64, u64)], dropped: u64) -> Delivered<'static> {
        let delivered = bins.iter().map(|(_, packets)| packets).sum();
        let sum: f64 = bins.iter().map(|(delay, packets)| delay * *packets as f64).sum();
        Delivered {
            replication: 0,
            class: "voice",
            delivered,
            dropped,
            least_s: bins.first().map_or(f64::NAN, |(delay, _)| *delay),
            mean_s: sum / delivered as f64,
            bins: bins.to_vec(),
        }
    }

    /// 90 packets have a delay of 10 ms, 5 have 15 ms and 5 have 30 ms. The buffer has 5 ms. 5 of 100 packets
    /// are late, and 10 of 105 are lost or late. The delay from mouth to ear is 10 + 5 + 35 ms.
    #[test]
    fn later_packets_than_the_buffer_are_lost() {
        let row = class(&[(0.010, 90), (0.015, 5), (0.030, 5)], 5);
        let calls = rate_calls(&[row], &[], &telephony(Codec::G729aVad, fixed(5)));
        let rated = calls[0].rated[0];
        assert_eq!(rated.late_percent, Some(5.0));
        assert!((rated.lost_percent - 1000.0 / 105.0).abs() < 1e-12);
        assert!((rated.mouth_to_ear_s.unwrap() - 0.050).abs() < 1e-12);
        let expected = rating(Path::random(0.050, 1000.0 / 105.0), Codec::G729aVad.planning()).unwrap();
        assert!((rated.r.unwrap() - expected).abs() < 1e-9);
        assert_eq!(calls[0].remark, "");
    }

    /// Half of the packets have a delay of 10 ms and half have 40 ms. The mean is 25 ms and the mean absolute
    /// deviation is 15 ms, so the playout is 25 + 4 · 15 ms. With 200 ms instead of 40 ms, the playout is 105
    /// + 250 ms. If all delays are 10 ms, the playout is 10 + 40 ms.
    #[test]
    fn an_adaptive_buffer_waits_for_four_deviations_between_its_bounds() {
        let adaptive = JitterBuffer::default();
        let playout = |bins: &[(f64, u64)]| playout_s(adaptive, &class(bins, 0));
        assert!((playout(&[(0.010, 50), (0.040, 50)]) - 0.085).abs() < 1e-12);
        assert!((playout(&[(0.010, 50), (0.200, 50)]) - 0.355).abs() < 1e-12);
        assert!((playout(&[(0.010, 50)]) - 0.050).abs() < 1e-12);
    }

    /// The averages of the paper, which are updated at every packet, vary around the values that perhop uses.
    #[test]
    fn the_estimates_of_ramjee_et_al_move_about_mean_and_deviation() {
        let (mut d, mut v, mut state) = (0.020, 0.010, 1_u64);
        let (mut sum, mut counted) = (0.0, 0_u64);
        let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
        for number in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Delays are 5 to 36 ms. Some packets have 60 ms.
            let ms = if (state >> 60) == 0 { 60 } else { 5 + (state >> 59) };
            let delay = ms as f64 / 1e3;
            *bins.entry(ms).or_default() += 1;
            d = 0.998_002 * d + (1.0 - 0.998_002) * delay;
            v = 0.998_002 * v + (1.0 - 0.998_002) * (d - delay).abs();
            if number >= 5_000 {
                sum += d + 4.0 * v;
                counted += 1;
            }
        }
        let bins: Vec<(f64, u64)> =
            bins.into_iter().map(|(ms, packets)| (ms as f64 / 1e3, packets)).collect();
        let unbounded = JitterBuffer::Adaptive(AdaptiveBuffer { least: Time::ZERO, most: Time::MAX });
        let (stationary, followed) = (playout_s(unbounded, &class(&bins, 0)), sum / counted as f64);
        assert!((stationary - followed).abs() < 0.000_5, "{stationary} for {followed}");
    }

    #[test]
    fn a_class_with_its_own_calls_is_rated_by_their_codec() {
        let own = |r| OwnCall {
            replication: 0,
            class: "voice",
            codec: "g729",
            rated: Rated { r, mos: Some(3.0), ..Rated::default() },
        };
        let row = [class(&[(0.010, 9)], 1)];
        let telephony = telephony(Codec::G711, JitterBuffer::default());
        let calls = rate_calls(&row, &[own(Some(60.0)), own(Some(50.0))], &telephony);
        assert_eq!((calls[0].rated[0].r, calls[0].rated[0].mos), (Some(55.0), Some(3.0)));
        let calls = rate_calls(&row, &[own(Some(60.0)), own(None)], &telephony);
        assert_eq!(calls[0].rated[0].r, None, "one of them cannot be rated");
    }

    #[test]
    fn unrated_classes_have_a_reason() {
        let remark = |rows: &[Delivered], codec| {
            rate_calls(rows, &[], &telephony(codec, JitterBuffer::default()))[0].remark.clone()
        };
        assert_eq!(remark(&[class(&[], 5)], Codec::G711), "no packet arrived");
        let partly = remark(&[class(&[], 5), class(&[(0.01, 9)], 0)], Codec::G711);
        assert_eq!(partly, "no packet arrived in a replication");
        assert!(remark(&[class(&[(0.01, 9)], 1)], Codec::G729).contains("no Bpl"));
        assert!(remark(&[class(&[(0.6, 9)], 1)], Codec::G711).contains("G.107 applies only up to"));
        assert!(remark(&[class(&[(0.01, 3)], 1)], Codec::G711).contains("G.107 applies only up to"));
    }
}
