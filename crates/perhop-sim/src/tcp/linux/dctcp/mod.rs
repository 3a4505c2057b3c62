//! DCTCP (RFC 8257 §3.3; Linux `net/ipv4/tcp_dctcp.c`).

mod hooks;

/// The value of `alpha` for a fraction of marks of 1.
const ONE: u32 = 1024;
/// RFC 8257 §4.2: g = 1/16.
const GAIN_SHIFT: u32 = 4;

/// The fraction of segments that arrive marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dctcp {
    /// DCTCP.Alpha in 1024ths. RFC 8257 §3.3: initially 1.
    alpha: u32,
    /// The offset whose acknowledgment ends the window of data.
    ends: u64,
    /// The number of segments delivered before the window of data.
    delivered: u32,
    /// The number of marked segments delivered before the window of data.
    marked: u32,
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        Dctcp { alpha: ONE, ends: 0, delivered: 0, marked: 0 }
    }
}

impl Dctcp {
    /// Returns the window after marks (`dctcp_ssthresh`, RFC 8257 §3.3).
    pub(super) fn reduced(&self, window: u32) -> u32 {
        window - ((u64::from(window) * u64::from(self.alpha)) >> 11) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8257 §3.3 by hand: alpha is 1, and a quarter of the segments is marked, so the new alpha is 15/16
    /// + 1/64 = 0.953.
    #[test]
    fn the_share_is_averaged_with_a_sixteenth() {
        let mut dctcp = Dctcp { marked: 0, delivered: 0, ..Dctcp::default() };
        assert_eq!(dctcp.reduced(100), 50);
        dctcp.alpha -= dctcp.alpha >> GAIN_SHIFT;
        dctcp.alpha += (10 << (10 - GAIN_SHIFT)) / 40;
        assert_eq!(dctcp.alpha, 976);
        assert_eq!(dctcp.reduced(100), 53);
    }
}
