//! Tail loss probes (RFC 8985 §7; `net/ipv4/tcp_output.c`, `tcp_send_loss_probe`).

mod hooks;

/// The probe in flight, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailProbe {
    /// `tlp_high_seq`: SND.NXT after the probe.
    end: Option<u64>,
    /// Whether the probe repeats data.
    is_retransmission: bool,
}

impl TailProbe {
    pub(super) fn end(&mut self) {
        self.end = None;
    }
    pub(super) fn is_retransmission(&self) -> bool {
        self.end.is_some() && self.is_retransmission
    }
    /// Whether the receiver's report of duplicate data that end at `end` is due to the retransmission of this
    /// probe.
    pub(super) fn is_answered_by(&self, end: u64) -> bool {
        self.is_retransmission && self.end == Some(end)
    }
}
