//! The internet checksum (RFC 1071) and its incremental update (RFC 1624).

/// The internet checksum of `bytes`: the complement of the one's complement sum of their 16-bit words (RFC
/// 1071 §1). The checksum of a header that contains its valid checksum is 0.
#[inline]
pub fn internet_checksum(bytes: &[u8]) -> u16 {
    // RFC 1071 §2: several words may be added at a time, and the carries may be folded later.
    let mut words = bytes.chunks_exact(4);
    let four = |word: &[u8]| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    let mut sum: u64 = words.by_ref().map(four).sum();
    for (place, byte) in words.remainder().iter().enumerate() {
        sum += u64::from(*byte) << if place % 2 == 0 { 8 } else { 0 };
    }
    !fold(sum)
}

/// Returns the new checksum of a header with `checksum` in which the word `before` became `after`.
///
/// RFC 1624 §3, equation 3: HC' = ~(~HC + ~m + m'). With the equation of RFC 1071, the result would sometimes
/// be 0xffff, which no header has.
#[inline]
pub fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!before) + u64::from(after))
}

/// Folds the carries of a sum of 16-bit words.
#[inline]
pub(super) fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // RFC 1071 §3: the sum of these bytes is 0xddf2.
        assert_eq!(internet_checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(internet_checksum(&[0x12]), !0x1200, "an odd byte is the high half of a word");
        assert_eq!(internet_checksum(&[0x12, 0x34, 0x56]), !(0x1234 + 0x5600));
        assert_eq!(internet_checksum(&[0xff; 64]), 0);
    }

    #[test]
    fn the_example_of_rfc_1624() {
        // RFC 1624 §4: for HC = 0xdd2f, m = 0x5555, m' = 0x3285 the result is 0x0000. The result of the older
        // equation is 0xffff.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }
}
