//! The E-model compared with published figures: those of G.107 itself, the tables of G.113, and the fit of
//! Cole and Rosenbluth.

use perhop_measure::emodel::{
    Path, basic_ratio, category, delay_impairment, equipment_impairment, opinion, rating, simultaneous,
};
use perhop_scenario::Codec;

fn g711(delay_ms: f64, loss_percent: f64) -> f64 {
    rating(Path::random(delay_ms / 1e3, loss_percent), Codec::G711.planning()).unwrap()
}

fn rounded(value: f64, digits: i32) -> f64 {
    (value * 10.0_f64.powi(digits)).round() / 10.0_f64.powi(digits)
}

/// G.107 (06/2015), 7.7: R = 93.2 has the parts 94.77 - 1.41 - 0.15.
#[test]
fn all_defaults_give_the_rating_that_the_recommendation_states() {
    assert_eq!(rounded(g711(0.0, 0.0), 1), 93.2);
    let parts = [basic_ratio(), simultaneous(), delay_impairment(0.0)];
    assert_eq!(parts.map(|part| rounded(part, 2)), [94.77, 1.41, 0.15]);
}

/// The table has 4.03 for R = 80. The formula results in 4.024.
#[test]
fn opinions_match_table_b1() {
    for (r, mos) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
        assert!((opinion(r) - mos).abs() < 0.01, "R {r}: {}", opinion(r));
    }
}

#[test]
fn opinions_stay_on_the_scale_and_never_fall() {
    let found: Vec<f64> = (-100..1200).map(|tenth| opinion(f64::from(tenth) / 10.0)).collect();
    assert_eq!((found[0], found[found.len() - 1]), (1.0, 4.5));
    assert!(found.is_sorted());
}

/// G.113 Appendix I (09/1999 and 10/2001) has tables of Ie for random loss, from which the values of Bpl were
/// fitted.
#[test]
fn loss_impairments_match_the_tables_of_g113() {
    for (codec, loss, published, within) in [
        (Codec::G711, 2.0, 7.0, 0.5),
        (Codec::G711, 10.0, 25.0, 2.5),
        (Codec::G729aVad, 2.0, 19.0, 0.5),
        (Codec::G729aVad, 8.0, 36.0, 0.5),
        (Codec::G729aVad, 16.0, 49.0, 0.5),
        (Codec::G7231Vad, 2.0, 24.0, 0.5),
        (Codec::GsmEfr, 5.0, 33.0, 2.5),
    ] {
        let planning = codec.planning();
        let found = equipment_impairment(loss, planning.ie, planning.bpl.unwrap(), 1.0);
        assert!((found - published).abs() <= within, "{codec:?} at {loss} %: {found} for {published}");
    }
}

/// For G.729A + VAD at 5 % of loss, the impairment is 11 + 84 * 5 / (5 + 19) = 28.5. If bursts are twice as
/// long, it is 11 + 420 / 21.5.
#[test]
fn losses_impair_as_by_hand() {
    assert!((equipment_impairment(5.0, 11.0, 19.0, 1.0) - 28.5).abs() < 1e-12);
    assert!((equipment_impairment(5.0, 11.0, 19.0, 2.0) - (11.0 + 420.0 / 21.5)).abs() < 1e-12);
}

/// Cole and Rosenbluth (2001) fitted two lines to the curve of G.107 for default echo. The two lines meet in
/// a corner, which the curve does not have.
#[test]
fn delay_impairments_match_the_published_fit() {
    for ms in [0.0, 25.0, 50.0, 75.0, 100.0, 125.0, 150.0, 177.0, 200.0, 250.0, 300.0_f64] {
        let fit = 0.024 * ms + 0.11 * (ms - 177.3).max(0.0);
        let within = if (160.0..190.0).contains(&ms) { 1.1 } else { 0.3 };
        assert!((g711(ms, 0.0) - (93.2 - fit)).abs() < within, "{ms} ms: {}", g711(ms, 0.0));
    }
}

#[test]
fn a_rating_falls_with_delay_and_loss_but_not_below_0() {
    let by_delay: Vec<f64> = (0..200).map(|step| g711(f64::from(step) * 10.0, 0.0)).collect();
    let by_loss: Vec<f64> = (0..1001).map(|tenth| g711(100.0, f64::from(tenth) / 10.0)).collect();
    for ratings in [by_delay, by_loss] {
        assert!(ratings.windows(2).all(|pair| pair[0] >= pair[1] && pair[1] >= 0.0));
    }
    assert_eq!(rating(Path::random(5.0, 100.0), Codec::G711NoPlc.planning()), Some(0.0));
}

#[test]
fn without_a_published_robustness_only_calls_without_losses_are_rated() {
    let g729 = |loss| rating(Path::random(0.0, loss), Codec::G729.planning());
    assert_eq!(g729(0.1), None);
    assert!((g729(0.0).unwrap() - (g711(0.0, 0.0) - 10.0)).abs() < 1e-9);
}

#[test]
fn categories_match_g109() {
    let words = [93.2, 80.0, 79.9, 60.0, 50.0, 0.0].map(|r| category(r).0);
    assert_eq!(words, ["best", "high", "medium", "low", "poor", "not recommended"]);
}
