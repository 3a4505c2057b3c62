//! The tins of CAKE: the codepoints and the share of the bandwidth of each tin.

use perhop_qos::cake::CakeTins;
use perhop_qos::packet::Dscp;

/// Whether `codepoints` are the codepoints of the tin `name`.
fn has(tins: CakeTins, name: &str, codepoints: &[u8]) -> bool {
    let tin = tins.names().iter().position(|candidate| *candidate == name).unwrap();
    tins.codepoints(tin).map(Dscp::value).eq(codepoints.iter().copied())
}

/// The tables of Linux `sch_cake.c`, and the fractions of the bandwidth in tc-cake(8).
#[test]
fn every_codepoint_has_one_tin_and_every_tin_its_share() {
    let every = [
        (CakeTins::BestEffort, 1),
        (CakeTins::Diffserv3, 3),
        (CakeTins::Diffserv4, 4),
        (CakeTins::Diffserv8, 8),
        (CakeTins::Precedence, 8),
    ];
    for (tins, count) in every {
        assert_eq!((tins.names().len(), tins.parts().len()), (count, count));
        assert_eq!((0..count).map(|tin| tins.codepoints(tin).count()).sum::<usize>(), 64);
    }
    assert!(has(CakeTins::Diffserv3, "bulk", &[1, 8]));
    assert!(has(CakeTins::Diffserv3, "voice", &[4, 44, 46, 48, 56]));
    assert!(has(CakeTins::Diffserv4, "bulk", &[1, 8]));
    assert!(has(CakeTins::Diffserv4, "video", &[4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]));
    assert!(has(CakeTins::Diffserv4, "voice", &[32, 40, 44, 46, 48, 56]));
    assert!(has(CakeTins::Diffserv8, "tin-0", &[1]));
    assert!(has(CakeTins::Diffserv8, "tin-1", &[2, 8, 10, 12, 14]));
    assert!(has(CakeTins::Diffserv8, "tin-3", &[24, 26, 28, 30, 34, 36, 38]));
    assert!(has(CakeTins::Diffserv8, "tin-4", &[4, 18, 20, 22]));
    assert!(has(CakeTins::Diffserv8, "tin-5", &[16]));
    assert!(has(CakeTins::Diffserv8, "tin-6", &[32, 40, 44, 46]));
    assert!(has(CakeTins::Diffserv8, "tin-7", &[48, 56]));
    assert!(has(CakeTins::Precedence, "tin-5", &[40, 41, 42, 43, 44, 45, 46, 47]));
    assert_eq!(CakeTins::Diffserv4.parts(), [1.0, 0.0625, 0.5, 0.25]);
    assert_eq!(CakeTins::Precedence.parts()[..3], [1.0, 0.875, 0.875 * 0.875]);
}
