//! Tests of bursts that are inferred from the drops in an output.

use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{Given, Inferred, Outputs, Request, infer};
use perhop_network::Devices;

use crate::work::request;

/// One class whose queue has room for ten packets. The ring of the interface has room for one.
const EDGE: &str = "\
hostname edge
class-map DATA
 match dscp af21
policy-map WAN
 class DATA
  bandwidth 500
  queue-limit 10 packets
interface Serial0/0
 bandwidth 1024
 tx-ring-limit 1
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
interface GigabitEthernet0/1
 ip address 10.0.0.1 255.255.255.0
";
/// Bytes of the HDLC header, which the policy counts in each packet.
const HDLC: u64 = 4;
const SECONDS: f64 = 100.0;

/// Returns the scenario for packets of 1000 bytes in 100 s, some of them dropped.
fn inferred(packets: u64, dropped: u64) -> Inferred {
    let bytes = (1000 + HDLC) * packets;
    let text = format!(
        " Serial0/0 \n\n  Service-policy output: WAN\n\n    Class-map: DATA (match-all)\n      \
         {packets} packets, {bytes} bytes\n      5 minute offered rate 0000 bps, drop rate 0000 bps\n      \
         Match: dscp af21 (18)\n      Queueing\n      queue limit 10 packets\n      \
         (queue depth/total drops/no-buffer drops) 0/{dropped}/0\n      bandwidth 500 kbps\n"
    );
    let given = Some(Given::Outputs(Outputs { earlier: None, text, seconds: Some(SECONDS) }));
    infer(&Devices::new(FRONT_ENDS), &Request { given, ..request(EDGE) }, None).unwrap()
}

/// The line sends 128 packets a second, and 50 arrive. The ring and the queue have room for 11 packets. No
/// packet of a burst leaves before the last one arrives, because the line needs 8 ms for a packet and the
/// burst arrives in about 0.1 ms. A burst of 13 packets loses 15.4 %. A burst of 14 packets loses 21.4 %, and
/// is the shortest that loses more than 20 %.
#[test]
fn the_shortest_bursts_that_lose_enough_are_assumed() {
    let found = inferred(5000, 1000);
    let traffic = found.scenario["traffic"].as_array().unwrap();
    let [steady, bursts] = traffic.as_slice() else { panic!("{traffic:?}") };
    assert_eq!((&steady["name"], &bursts["name"]), (&"DATA".into(), &"DATA-bursts".into()));
    assert_eq!(bursts["class"], "DATA");
    let source = &bursts["source"]["on-off"];
    let nanoseconds =
        |key: &str| -> f64 { source[key].as_str().unwrap().trim_end_matches("ns").parse::<f64>().unwrap() };
    // At 1 Gb/s a packet of 1000 bytes takes 8 us.
    assert_eq!(nanoseconds("on-time"), 13.5 * 8000.0);
    // 10 packets a second are lost: 3 of each burst, and a few others that arrive while the queue is full.
    let period = (nanoseconds("on-time") + nanoseconds("off-time")) / 1e9;
    assert!((0.3..0.32).contains(&period), "{period}");
    let loads: f64 = found.offered.iter().map(|offer| offer.load).sum();
    assert!((loads - 400e3).abs() < 1e3, "{loads}");
    let remark = "class `DATA`: the output shows 20.0 % dropped, but packets at regular intervals \
                  would lose 0.0 %: perhop assumes the shortest bursts with the shown loss, 14 packets \
                  every 0.31 s";
    assert!(found.missing.iter().any(|line| line == remark), "{:?}", found.missing);
}

#[test]
fn drops_of_an_excessive_load_need_no_bursts() {
    // 160 packets a second arrive at a line that sends 128, so 20 % are dropped. No remark about drops is
    // needed.
    let found = inferred(16_000, 3200);
    assert_eq!(found.scenario["traffic"].as_array().unwrap().len(), 1);
    assert!(!found.missing.iter().any(|line| line.contains("dropped")), "{:?}", found.missing);
}

#[test]
fn drops_that_no_burst_explains_are_reported() {
    // Ten packets in the whole time cannot overflow the queue.
    let found = inferred(10, 5);
    assert_eq!(found.scenario["traffic"].as_array().unwrap().len(), 1);
    let remark = "class `DATA`: the output shows 50.0 % dropped, but the inferred load loses 0.0 %";
    assert!(found.missing.iter().any(|line| line == remark), "{:?}", found.missing);
}
