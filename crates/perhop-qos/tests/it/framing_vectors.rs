//! The bytes of header stacks: the vectors of `vectors/framing/`, which a person can check by hand, and
//! properties of all stacks.

use crate::vectors::cases;
use perhop_qos::framing::{Esp, EspCipher, EspIntegrity, EspMode, Framing, Header, HeaderStack, IpVersion};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    headers: HeaderStack,
    #[serde(default)]
    framing: Framing,
    bytes: Vec<[u64; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    headers: HeaderStack,
    #[serde(default)]
    framing: Framing,
    path: String,
    found: String,
    #[serde(default)]
    help: String,
}

#[test]
fn every_vector_holds() {
    for Case { name, headers, framing, bytes, .. } in cases("framing/headers.toml") {
        headers.check(framing).unwrap_or_else(|error| panic!("{name}: {error}"));
        for [ip, wire] in bytes {
            assert_eq!(framing.wire_bytes(headers.bytes(ip)), wire, "{name}: {ip} IP bytes");
        }
    }
}

#[test]
fn impossible_stacks_are_refused() {
    for Refused { headers, framing, path, found, help } in cases("framing/refused.toml") {
        let error = headers.check(framing).expect_err(&found);
        assert_eq!(error.path.join("."), path, "{error}");
        assert!(error.message.contains(&found), "{error}");
        assert!(error.help.as_deref().is_some_and(|found_help| found_help.contains(&help)), "{error}");
    }
}

fn version() -> impl Strategy<Value = IpVersion> {
    prop::sample::select(vec![IpVersion::Ipv4, IpVersion::Ipv6])
}

fn esp() -> impl Strategy<Value = Esp> {
    use EspCipher::{AesCbc, AesCtr, AesGcm, Null, TripleDes};
    use EspIntegrity::{Md5, None, Sha1, Sha256, Sha384, Sha512};
    (
        prop::sample::select(vec![TripleDes, AesCbc, AesGcm, AesCtr, Null]),
        prop::sample::select(vec![None, Md5, Sha1, Sha256, Sha384, Sha512]),
        prop::sample::select(vec![EspMode::Tunnel, EspMode::Transport]),
        any::<bool>(),
        version(),
    )
        .prop_map(|(cipher, integrity, mode, nat_t, over)| Esp { cipher, integrity, mode, nat_t, over })
}

/// Arbitrary headers in arbitrary order. The order can be invalid.
fn headers() -> impl Strategy<Value = Vec<Header>> {
    let written: Vec<Header> = cases::<Case>("framing/headers.toml")
        .iter()
        .flat_map(|case| case.headers.headers().to_vec())
        .collect();
    let header = prop_oneof![4 => prop::sample::select(written), 1 => esp().prop_map(Header::Esp)];
    prop::collection::vec(header, 0..=HeaderStack::MOST)
}

proptest! {
    /// RFC 4303 §2.4: the padding extends to the next multiple of the block, and not further.
    #[test]
    fn esp_pads_to_the_block_and_no_further(esp in esp(), length in 40..10_000u64) {
        let block = match esp.cipher {
            EspCipher::TripleDes => 8,
            EspCipher::AesCbc => 16,
            EspCipher::AesGcm | EspCipher::AesCtr | EspCipher::Null => 4,
        };
        let stack = HeaderStack::new(&[Header::Esp(esp)]).unwrap();
        let [shorter, bytes, block_longer] = [length - 1, length, length + block].map(|ip| stack.bytes(ip));
        prop_assert_eq!(block_longer - bytes, block);
        prop_assert!(bytes == shorter || bytes == shorter + block);
        // The lengths cover all remainders of a division by the block once. With minimal padding, exactly one
        // of them needs an additional block.
        let steps = (length..length + block).filter(|ip| stack.bytes(ip + 1) > stack.bytes(*ip)).count();
        prop_assert_eq!(steps, 1);
    }

    #[test]
    fn headers_add_up_one_by_one(headers in headers(), ip in 20..10_000u64) {
        let stack = HeaderStack::new(&headers).unwrap();
        let alone = |header: &Header| HeaderStack::new(&[*header]).unwrap();
        let one_by_one = headers.iter().fold(ip, |carried, header| alone(header).bytes(carried));
        prop_assert_eq!(stack.bytes(ip), one_by_one);
        match stack.added() {
            Some(added) => prop_assert_eq!(stack.bytes(ip), ip + added),
            None => prop_assert!(headers.iter().any(|header| matches!(header, Header::Esp(_)))),
        }
    }

    #[test]
    fn written_stacks_are_read_back(headers in headers()) {
        let stack = HeaderStack::new(&headers).unwrap();
        let text = serde_json::to_string(&stack).unwrap();
        prop_assert_eq!(serde_json::from_str::<HeaderStack>(&text).unwrap(), stack);
    }
}

#[test]
fn a_stack_has_a_limit() {
    assert!(HeaderStack::new(&[Header::Ethernet; 9]).is_none());
    let error = serde_json::from_value::<HeaderStack>(serde_json::json!(vec!["gre"; 9])).unwrap_err();
    assert_eq!(error.to_string(), "9 headers, but there can be 8 at most");
}

#[test]
fn a_bare_header_name_has_defaults_except_esp() {
    let read = |text: &str| serde_json::from_str::<Header>(text).map_err(|error| error.to_string());
    assert_eq!(read(r#""gre""#), read(r#"{"gre": {}}"#));
    assert_eq!(read(r#""pppoe""#), Ok(Header::Pppoe));
    assert!(read(r#""esp""#).unwrap_err().contains("missing field `cipher`"));
    assert!(read(r#""grease""#).unwrap_err().contains("unknown variant `grease`, expected one of `vlan`"));
    assert!(read(r#"{"gre": {"kee": true}}"#).unwrap_err().contains("unknown field `kee`"));
}
