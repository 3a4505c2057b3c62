//! [`Accounting`]: which bytes a policy counts for a packet.

use crate::ConfigError;

/// The bytes that the meters, class policers, shapers and schedulers of a policy count for a packet: its IP
/// bytes plus or minus a constant for other headers.
///
/// Routers also count headers of the link layer. The number of header bytes depends on the platform and the
/// feature. Cisco, "Ethernet Overhead Accounting" (IOS XE), describes the configuration of this number.
/// Counters, results and buffer managers always count IP bytes. The [framing](crate::framing) determines the
/// bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    overhead: i32,
}

impl Accounting {
    /// The accounting that counts only IP bytes.
    pub const IP: Accounting = Accounting { overhead: 0 };
    /// The valid range of the overhead: bytes that are added to the IP bytes of each packet.
    const RANGE: std::ops::RangeInclusive<i32> = -64..=255;

    /// Returns the accounting that counts the IP bytes plus `overhead`.
    ///
    /// # Errors
    /// `overhead` is out of range.
    pub fn new(overhead: i32) -> Result<Accounting, ConfigError> {
        if !Accounting::RANGE.contains(&overhead) {
            let (least, most) = (Accounting::RANGE.start(), Accounting::RANGE.end());
            return Err(ConfigError::new(
                "",
                format!("an overhead of {overhead} bytes per packet is out of range"),
            )
            .help(format!(
                "{least} to {most}; 14 for an Ethernet header, 18 for an Ethernet header with an 802.1Q tag"
            )));
        }
        Ok(Accounting { overhead })
    }
    /// Returns this accounting with `overhead` more bytes for each packet.
    ///
    /// # Errors
    /// The sum is out of range.
    pub fn with_more(self, overhead: u16) -> Result<Accounting, ConfigError> {
        Accounting::new(self.overhead + i32::from(overhead))
    }
    /// Whether only IP bytes are counted, without an overhead.
    pub fn is_ip(self) -> bool {
        self == Accounting::IP
    }
    /// The counted bytes of a packet of `length` IP bytes. The result is at least 1, even if a negative
    /// overhead exceeds the length.
    #[inline]
    pub fn counted(self, length: u32) -> u32 {
        (i64::from(length) + i64::from(self.overhead)).clamp(1, u32::MAX.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_counts_more_or_less_and_at_least_one() {
        let counted = |overhead, length| Accounting::new(overhead).unwrap().counted(length);
        assert_eq!([counted(18, 100), counted(0, 100), counted(-20, 100)], [118, 100, 80]);
        assert_eq!([counted(-64, 40), counted(0, 0), counted(255, u32::MAX)], [1, 1, u32::MAX]);
        assert!(Accounting::new(0).unwrap().is_ip() && !Accounting::new(-4).unwrap().is_ip());
    }

    #[test]
    fn an_overhead_out_of_range_is_refused() {
        for overhead in [-65, 256, i32::MIN] {
            let error = Accounting::new(overhead).unwrap_err();
            assert!(error.message.contains(&overhead.to_string()) && error.help.is_some(), "{error}");
        }
    }
}
