//! [`rate_calls`]: what calls through classes would be rated, by the delays and losses of their packets.

use std::collections::BTreeMap;

use perhop_scenario::Planning;

use crate::emodel::{GREATEST_LOSS_PERCENT, LONGEST_DELAY_S, Path, opinion, rating};
use crate::results::{Table, Values};

/// What is assumed of the telephones: codec, de-jitter buffer, and how losses come.
#[derive(Clone, Copy, Debug)]
pub struct Telephony {
    /// The codec.
    pub codec: &'static Planning,
    /// Playout is this much later than the packet with the least delay would allow, seconds.
    pub jitter_buffer_s: f64,
    /// `BurstR` of G.107: 1 for losses at random.
    pub burst_ratio: f64,
    /// The advantage factor A of G.107: 0 for telephones on a wire.
    pub advantage: f64,
}

/// What became of the packets of a class in one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivered<'a> {
    /// Which replication.
    pub replication: u64,
    /// The class.
    pub class: &'a str,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// The least delay, seconds; whatever it is where nothing arrived.
    pub least_s: f64,
    /// Distribution of delays: upper edges of bins, seconds, and packets in them.
    pub bins: Vec<(f64, u64)>,
}

/// A call in one replication; what cannot be told is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rated {
    /// The transmission rating factor.
    pub r: Option<f64>,
    /// The mean opinion score.
    pub mos: Option<f64>,
    /// One-way delay from mouth to ear, seconds.
    pub mouth_to_ear_s: Option<f64>,
    /// Packets that arrive after their playout, percent of those delivered.
    pub late_percent: Option<f64>,
    /// Packets lost or late, percent of those delivered or dropped.
    pub lost_percent: f64,
}

/// A call through a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// The class.
    pub class: &'a str,
    /// By replication.
    pub rated: Vec<Rated>,
    /// Why there is no rating, or why it is to be taken with care; empty otherwise.
    pub remark: String,
}

/// The call through each class of `rows`, which has a row for each class and replication.
///
/// Every packet is played at the least delay of its class and replication plus the de-jitter buffer; later
/// ones are lost. Delays are known to the width of their bin, a thousandth.
pub fn rate_calls<'a>(rows: &[Delivered<'a>], telephony: &Telephony) -> Vec<Call<'a>> {
    let mut calls: Vec<Call> = Vec::new();
    for row in rows {
        let rated = rate(row, telephony);
        match calls.iter_mut().find(|call| call.class == row.class) {
            Some(call) => call.rated.push(rated),
            None => calls.push(Call { class: row.class, rated: vec![rated], remark: String::new() }),
        }
    }
    for call in &mut calls {
        call.remark = remark(&call.rated, telephony);
    }
    calls
}

/// A call with de-jitter buffer that plays every packet `mouth_to_ear_s` after it was spoken, where
/// `lost_percent` of the packets are lost or late.
pub fn rate_call(
    mouth_to_ear_s: f64,
    lost_percent: f64,
    telephony: &Telephony,
) -> (Option<f64>, Option<f64>) {
    let Telephony { codec, burst_ratio, advantage, .. } = *telephony;
    let path = Path { delay_s: mouth_to_ear_s, loss_percent: lost_percent, burst_ratio, advantage };
    let r = rating(path, codec);
    (r, r.map(opinion))
}

fn rate(row: &Delivered, telephony: &Telephony) -> Rated {
    let counted: u64 = row.bins.iter().map(|(_, packets)| packets).sum();
    if row.delivered == 0 || counted == 0 {
        return Rated::default();
    }
    let playout = row.least_s + telephony.jitter_buffer_s;
    let beyond = row.bins.iter().filter(|(edge, _)| *edge > playout);
    let late = beyond.map(|(_, packets)| packets).sum::<u64>() as f64 / counted as f64;
    let (delivered, dropped) = (row.delivered as f64, row.dropped as f64);
    let lost_percent = 100.0 * ((dropped + late * delivered) / (delivered + dropped));
    let mouth_to_ear_s = playout + telephony.codec.delay().as_seconds();
    let (r, mos) = rate_call(mouth_to_ear_s, lost_percent, telephony);
    Rated { r, mos, mouth_to_ear_s: Some(mouth_to_ear_s), late_percent: Some(100.0 * late), lost_percent }
}

fn remark(rated: &[Rated], telephony: &Telephony) -> String {
    let delays: Vec<f64> = rated.iter().filter_map(|one| one.mouth_to_ear_s).collect();
    if delays.len() < rated.len() {
        let some = if delays.is_empty() { "" } else { " in a replication" };
        return format!("no packet arrived{some}");
    }
    if rated.iter().any(|one| one.r.is_none()) {
        return format!("G.113 has no Bpl of {} for losses", telephony.codec.words);
    }
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    if mean > LONGEST_DELAY_S || rated.iter().any(|one| one.lost_percent > GREATEST_LOSS_PERCENT) {
        return "beyond the 500 ms and 20 % of loss up to which G.107 holds".to_owned();
    }
    String::new()
}

/// What the tables `classes` and `histogram` of a run say of its classes.
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
    let [replication, class, delivered, dropped, least] =
        ["replication", "class", "delivered_packets", "dropped_packets", "delay_min_s"]
            .map(|name| column(classes, name));
    let row = |row: usize| {
        let key = (number(replication, row) as u64, class.text(row).unwrap_or_default());
        Delivered {
            replication: key.0,
            class: key.1,
            delivered: number(delivered, row) as u64,
            dropped: number(dropped, row) as u64,
            least_s: number(least, row),
            bins: bins.remove(&key).unwrap_or_default(),
        }
    };
    (0..classes.rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use perhop_scenario::Codec;

    use super::*;

    fn telephony(codec: Codec, jitter_buffer_s: f64) -> Telephony {
        Telephony { codec: codec.planning(), jitter_buffer_s, burst_ratio: 1.0, advantage: 0.0 }
    }

    /// 90 packets of 10 ms, 5 of 15 ms, 5 of 30 ms, with a buffer of 5 ms: 5 of 100 are late, 10 of 105 lost
    /// or late; mouth to ear takes 10 + 5 + 35 ms.
    #[test]
    fn later_packets_than_the_buffer_are_lost() {
        let row = Delivered {
            replication: 0,
            class: "voice",
            delivered: 100,
            dropped: 5,
            least_s: 0.010,
            bins: vec![(0.010, 90), (0.015, 5), (0.030, 5)],
        };
        let calls = rate_calls(&[row], &telephony(Codec::G729aVad, 0.005));
        let one = calls[0].rated[0];
        assert_eq!(one.late_percent, Some(5.0));
        assert!((one.lost_percent - 1000.0 / 105.0).abs() < 1e-12);
        assert!((one.mouth_to_ear_s.unwrap() - 0.050).abs() < 1e-12);
        let expected = rating(Path::random(0.050, 1000.0 / 105.0), Codec::G729aVad.planning()).unwrap();
        assert!((one.r.unwrap() - expected).abs() < 1e-9);
        assert_eq!(calls[0].remark, "");
    }

    #[test]
    fn what_cannot_be_rated_says_why() {
        let row = |delivered, dropped, least_s| Delivered {
            replication: 0,
            class: "voice",
            delivered,
            dropped,
            least_s,
            bins: if delivered == 0 { Vec::new() } else { vec![(least_s, delivered)] },
        };
        let remark = |rows: &[Delivered], codec| rate_calls(rows, &telephony(codec, 0.06))[0].remark.clone();
        assert_eq!(remark(&[row(0, 5, f64::NAN)], Codec::G711), "no packet arrived");
        let one = remark(&[row(0, 5, f64::NAN), row(9, 0, 0.01)], Codec::G711);
        assert_eq!(one, "no packet arrived in a replication");
        assert!(remark(&[row(9, 1, 0.01)], Codec::G729).contains("no Bpl"));
        assert!(remark(&[row(9, 1, 0.6)], Codec::G711).contains("G.107 holds"));
        assert!(remark(&[row(3, 1, 0.01)], Codec::G711).contains("G.107 holds"));
    }
}
