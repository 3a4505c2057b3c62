//! The filter `u32`: masked words of the header (`tc/f_u32.c`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_qos::classifier::OneOrMany;

use super::body::{Body, common, labels};
use crate::kernel::Kernel;
use crate::model::{Bits, Condition, Family};
use crate::nearest::suggestion;
use crate::units;
use crate::words::{Words, abbreviates};

/// Options of u32 that perhop does not read: name, number of arguments, and meaning.
const UNREAD: [(&str, usize, &str); 4] = [
    ("offset", 0, "offsets that a header field gives"),
    ("hashkey", 0, "hash tables of filters"),
    ("sample", 0, "hash tables of filters"),
    ("indev", 1, "the arrival interface of a packet"),
];

/// Reads the options of a filter. Returns `false` if tc refuses an option.
pub(super) fn read(
    kernel: &mut Kernel,
    number: usize,
    family: Family,
    words: &mut Words,
    body: &mut Body,
) -> bool {
    let (mut is_linked, mut has_match) = (false, false);
    let mut mark = None;
    while let Some(word) = words.next() {
        if word.len() > 2 && abbreviates(word, "match") {
            has_match = true;
            if !selector(kernel, number, words, &mut body.bits, &mut mark) {
                return false;
            }
        } else if let Some((_, behind, what)) =
            UNREAD.iter().find(|(name, ..)| word.len() > 2 && abbreviates(word, name))
        {
            words.split(*behind);
            is_linked = true;
            kernel.log.not_modelled(number, format!("perhop does not read {what}"));
            if *behind == 0 {
                while words.peek().is_some_and(|next| {
                    !matches!(next, "match" | "flowid" | "classid" | "link" | "action" | "police")
                }) {
                    words.next();
                }
            }
        } else if word == "ht" && words.peek() == Some("divisor") {
            // In the output of `show`, this line is a separate table.
        } else if matches!(word, "link" | "ht") {
            let table = words.next().unwrap_or_default();
            if !is_first_table(table) {
                is_linked = true;
                kernel.log.not_modelled(number, "perhop reads only the first table of u32");
            }
        } else if word.len() > 2 && abbreviates(word, "divisor") {
            words.next();
            body.is_table = true;
        } else if matches!(word, "order" | "bkt" | "fh") {
            words.next();
        } else if matches!(word, "key" | "terminal" | "???") || words.is_shown() && word.starts_with('(') {
        } else if !common(kernel, number, word, words, body) {
            let known = ["match", "flowid", "classid", "action", "police", "ht", "link", "order", "divisor"];
            let help = suggestion(word, known);
            kernel.refuse(number, format!("`{word}` is not an option of u32: {help}"));
            return false;
        }
    }
    if body.is_table && !has_match {
        kernel.log.note(number, "a table of u32");
    }
    condition(kernel, number, family, body);
    if let Some((value, mask)) = mark {
        if let Some(labels) = labels(value, mask) {
            body.condition.matches.label = Some(OneOrMany(labels));
        } else {
            kernel.log.not_modelled(number, "marks in perhop are numbers up to 255");
            body.condition.is_unseen = true;
        }
    }
    body.condition.is_unseen |= is_linked;
    true
}

/// Whether `text` is the number of the first table of a preference: 800 to fff (`gen_new_htid`).
fn is_first_table(text: &str) -> bool {
    let digits = text.split_once(':').map_or(text, |(digits, _)| digits);
    u32::from_str_radix(digits, 16).is_ok_and(|table| (0x800..=0xfff).contains(&table))
}

/// Sets the condition from the bits required so far.
pub(crate) fn condition(kernel: &mut Kernel, number: usize, family: Family, body: &mut Body) {
    let found = body.bits.condition(family, number, &mut kernel.log);
    body.condition = found.unwrap_or(Condition { family, is_unseen: true, ..Condition::default() });
}

/// Reads a `match`. Returns `false` if tc refuses it.
fn selector(
    kernel: &mut Kernel,
    number: usize,
    words: &mut Words,
    bits: &mut Bits,
    mark: &mut Option<(u64, u64)>,
) -> bool {
    let kind = words.next().unwrap_or_default();
    let read = match kind {
        "u8" => raw(words, bits, 1, 0),
        "u16" => raw(words, bits, 2, 0),
        "u32" => raw(words, bits, 4, 0),
        "ip" => ip(words, bits),
        "ip6" => ip6(words, bits),
        // As in tc, the transport header is assumed after an IPv4 header without options (`nexthdr+0`).
        "tcp" | "udp" => match words.next() {
            Some("src" | "sport") => raw(words, bits, 2, 20),
            Some("dst" | "dport") => raw(words, bits, 2, 22),
            _ => None,
        },
        "mark" => {
            let value = words.next().and_then(|word| units::integer(word, 0));
            let mask = words.next().and_then(|word| units::integer(word, 16));
            *mark = value.zip(mask);
            mark.map(drop)
        }
        "icmp" | "ether" => {
            words.next();
            words.next();
            bits.is_beyond = true;
            Some(())
        }
        // `show` prints words as value/mask.
        shown if words.is_shown() => shown_key(shown, words, bits),
        _ => None,
    };
    if read.is_none() {
        let known = ["ip", "ip6", "u8", "u16", "u32", "tcp", "udp", "icmp", "ether", "mark"];
        let help = suggestion(kind, known);
        let message = if known.contains(&kind) {
            format!("`match {kind}`: write a field, a value and a mask, as `match ip dsfield 0xb8 0xfc`")
        } else {
            format!("`match {kind}`: {help}")
        };
        kernel.refuse(number, message);
    }
    read.is_some()
}

/// Reads a value, a mask and an optional offset: `0xb8 0xfc at 1`.
fn raw(words: &mut Words, bits: &mut Bits, bytes: usize, default: i64) -> Option<()> {
    let value = units::integer(words.next()?, 0)?;
    let mask = units::integer(words.next()?, 16)?;
    let most = u64::MAX >> (64 - 8 * bytes);
    if value > most || mask > most {
        return None;
    }
    let offset = at(words, default)?;
    bits.demand(offset, bytes, (value & mask).into(), mask.into());
    Some(())
}

/// Reads `at 12`, or `at nexthdr+0`, which is the position after the IPv4 header.
fn at(words: &mut Words, default: i64) -> Option<i64> {
    if !words.take("at") {
        return Some(default);
    }
    let place = words.next()?;
    // `get_integer` of iproute2 accepts the range of `int`.
    let number = |digits: &str| i32::try_from(units::integer(digits, 0)?).ok().map(i64::from);
    match place.strip_prefix("nexthdr+") {
        Some(behind) => Some(20 + number(behind)?),
        None => match place.strip_prefix('-') {
            Some(before) => Some(-number(before)?),
            None => number(place),
        },
    }
}

/// Reads `match ip …`: the offset in the header and the bytes.
fn ip(words: &mut Words, bits: &mut Bits) -> Option<()> {
    let field = words.next()?;
    if let Some((value, mask)) = fragments(field) {
        bits.demand(6, 2, value, mask);
        return Some(());
    }
    match field {
        "src" => address(words, bits, 12, 4),
        "dst" => address(words, bits, 16, 4),
        "tos" => raw(words, bits, 1, 1),
        "ihl" => raw(words, bits, 1, 0),
        "protocol" => raw(words, bits, 1, 9),
        "sport" => raw(words, bits, 2, 20),
        "dport" => raw(words, bits, 2, 22),
        "icmp_type" => raw(words, bits, 1, 20),
        "icmp_code" => raw(words, bits, 1, 21),
        _ if abbreviates(field, "dsfield") || abbreviates(field, "precedence") => raw(words, bits, 1, 1),
        _ => None,
    }
}

/// Returns the value and mask of a word for the flags and the fragment offset of IPv4.
fn fragments(field: &str) -> Option<(u128, u128)> {
    Some(match field {
        "nofrag" => (0, 0x3fff),
        "firstfrag" => (0x2000, 0x3fff),
        "df" => (0x4000, 0x4000),
        "mf" => (0x2000, 0x2000),
        _ => return None,
    })
}

/// Reads `match ip6 …`.
fn ip6(words: &mut Words, bits: &mut Bits) -> Option<()> {
    match words.next()? {
        "src" => address(words, bits, 8, 16),
        "dst" => address(words, bits, 24, 16),
        "priority" => {
            let value = units::integer(words.next()?, 0).filter(|value| *value <= 0xff)?;
            let mask = units::integer(words.next()?, 16).filter(|mask| *mask <= 0xff)?;
            bits.demand(0, 2, u128::from(value & mask) << 4, u128::from(mask) << 4);
            Some(())
        }
        "protocol" => raw(words, bits, 1, 6),
        "flowlabel" => raw(words, bits, 4, 0),
        "sport" => raw(words, bits, 2, 40),
        "dport" => raw(words, bits, 2, 42),
        "icmp_type" => raw(words, bits, 1, 40),
        "icmp_code" => raw(words, bits, 1, 41),
        _ => None,
    }
}

/// Reads an address or a prefix, with an optional offset.
fn address(words: &mut Words, bits: &mut Bits, offset: i64, bytes: usize) -> Option<()> {
    let (value, length) = prefix(words.next()?, bytes)?;
    let offset = at(words, offset)?;
    let width = 8 * bytes as u32;
    let whole = u128::MAX >> (128 - width);
    let mask = whole & !whole.checked_shr(length).unwrap_or(0);
    bits.demand(offset, bytes, value & mask, mask);
    Some(())
}

/// Parses an address of `bytes` bytes with the length of its prefix: `any`, `10.0.0.0/8`, `10/8`.
pub(super) fn prefix(text: &str, bytes: usize) -> Option<(u128, u32)> {
    if matches!(text, "any" | "all" | "default") {
        return Some((0, 0));
    }
    let width = 8 * bytes as u32;
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let length = match length {
        None => width,
        Some(digits) if digits.contains('.') => {
            let mask = digits.parse::<Ipv4Addr>().ok()?.to_bits();
            (mask.leading_ones() + mask.trailing_zeros() >= 32).then_some(mask.leading_ones())?
        }
        Some(digits) => digits.parse().ok().filter(|length| *length <= width)?,
    };
    let value = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) if bytes == 4 => address.to_bits().into(),
        Ok(IpAddr::V6(address)) if bytes == 16 => Ipv6Addr::to_bits(address),
        // iproute2 completes an IPv4 prefix with zeros: 10/8.
        _ if bytes == 4 && text.contains('/') => {
            let parts: Vec<u8> = address.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
            let mut whole = [0; 4];
            whole.get_mut(..parts.len())?.copy_from_slice(&parts);
            u32::from_be_bytes(whole).into()
        }
        _ => return None,
    };
    Some((value, length))
}

/// Reads a header word in the output of `show`: `00b80000/00fc0000 at 0`.
fn shown_key(text: &str, words: &mut Words, bits: &mut Bits) -> Option<()> {
    let (value, mask) = text.split_once('/')?;
    let (value, mask) = (u32::from_str_radix(value, 16).ok()?, u32::from_str_radix(mask, 16).ok()?);
    let offset = at(words, 0)?;
    bits.demand(offset, 4, (value & mask).into(), mask.into());
    Some(())
}
