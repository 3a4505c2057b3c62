//! [`Exit`]: the form of the frames that leave on a device.

use perhop_qos::error::ConfigError;
use perhop_qos::framing::HeaderStack;
use perhop_qos::packet::{Dscp, Marks};

use crate::config::{DirectionConfig, ForwarderConfig, MacAddress, SentFrames};
use crate::frame::{Envelope, Layout, LinkLayer};

/// The form of the frames that leave on a device.
#[derive(Debug)]
pub(super) struct Exit {
    /// The destination address of the frames.
    neighbor: Option<MacAddress>,
    /// The tags and labels of the link; `None` if frames keep their tags and labels.
    envelope: Option<Box<Envelope>>,
    /// The maximum number of bytes before the IP header of a frame without tags and labels. These bytes do
    /// not change, because marks are written only into tags and labels.
    most_plain_bytes: u8,
}

impl Exit {
    /// The exits for `devices`.
    pub(super) fn all(
        config: &ForwarderConfig,
        devices: &[&str],
        link_layer: LinkLayer,
    ) -> Result<Vec<Exit>, ConfigError> {
        let exit = |name: &&str| {
            // A frame without an Ethernet header contains no address.
            let is_ethernet = link_layer == LinkLayer::Ethernet;
            let neighbor = config.neighbors.get(*name).copied().filter(|_| is_ethernet);
            let is_sent_on = |direction: &DirectionConfig| direction.sends_on.as_deref() == Some(*name);
            let place = config.directions.iter().position(is_sent_on);
            let envelope = place.map_or(Ok(None), |place| {
                envelope(&config.directions[place], config.longest_frame as usize, link_layer)
                    .map_err(|error| error.within(place).within("directions"))
            })?;
            let keeps_plain = envelope.as_ref().is_none_or(|envelope| envelope.is_plain());
            let most_plain_bytes = if keeps_plain { Layout::MOST_PLAIN_BYTES } else { 0 };
            Ok(Exit { neighbor, envelope, most_plain_bytes })
        };
        devices.iter().map(exit).collect()
    }

    /// Returns `frame` in the form in which it is sent. The frame contains a packet with these marks at
    /// `layout`.
    #[inline]
    pub(super) fn finish<'f>(
        &'f mut self,
        frame: &'f mut [u8],
        layout: Layout,
        dscp: Dscp,
        marks: Marks,
    ) -> &'f mut [u8] {
        layout.mark(frame, dscp, marks.ecn());
        if let Some(MacAddress(address)) = self.neighbor {
            frame[..address.len()].copy_from_slice(&address);
        }
        if layout.header() <= usize::from(self.most_plain_bytes) {
            return frame;
        }
        self.encapsulate(frame, layout, marks)
    }

    #[cold]
    fn encapsulate<'f>(&'f mut self, frame: &'f mut [u8], layout: Layout, marks: Marks) -> &'f mut [u8] {
        if let Some(envelope) = &mut self.envelope {
            return envelope.around(frame, layout, marks);
        }
        layout.mark_link(frame, marks);
        frame
    }
}

/// The envelope of the packets that `direction` sends; `None` if the frames keep their tags and labels.
fn envelope(
    direction: &DirectionConfig,
    longest: usize,
    link_layer: LinkLayer,
) -> Result<Option<Box<Envelope>>, ConfigError> {
    let envelope = match direction.sent_frames {
        SentFrames::Kept => return Ok(None),
        SentFrames::OfLink => Envelope::new(&direction.headers, longest),
        SentFrames::Plain => Envelope::new(&HeaderStack::EMPTY, longest),
    };
    match link_layer {
        LinkLayer::Ethernet => Ok(Some(Box::new(envelope))),
        LinkLayer::Bare if envelope.is_plain() => Ok(None),
        LinkLayer::Bare => Err(ConfigError::new(
            "sent-frames",
            "packets without an Ethernet header cannot have tags and labels",
        )
        .help("use \"socket\": \"af-packet\"")),
    }
}
