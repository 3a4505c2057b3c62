//! Recordings: packets of pcap and pcapng files, which a source replays.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use perhop_capture::reader::{Capture, Observed, Unreadable, read};
use perhop_capture::{TcpFields, link_layer};
use perhop_qos::error::ConfigError;
use perhop_qos::packet::{Dscp, FlowKey, Ingress, Marks};
use perhop_qos::units::Time;

use super::input_file::{CAPTURE, reason};
use super::nearest::suggest;
use super::{PcapConfig, ReplayedFlows};

/// The replayed packets of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Keys of the flows in order of their first packets; `None` for a single flow of datagrams.
    pub flows: Vec<Option<FlowKey>>,
    /// The packets, in order of time.
    pub packets: Vec<Recorded>,
}

/// One packet of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Time since the first IP packet of the file.
    pub time: Time,
    /// Index of the packet's flow.
    pub flow: u32,
    /// Length of the IP packet, bytes.
    pub length: u32,
    /// The codepoint of the packet.
    pub dscp: Dscp,
    /// The ECN field of the packet, and the marks of its tag and labels.
    pub marks: Marks,
    /// The kinds of marks that the packet has.
    pub input: Ingress,
    /// Fields of the TCP header.
    pub tcp: TcpNumbers,
}

/// Numbers and control bits of a TCP header; 0 for other packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpNumbers {
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number.
    pub acknowledgment: u32,
    /// Window field, not scaled.
    pub window: u16,
    /// Control bits.
    pub flags: crate::tcp::Flags,
}

/// Reads the packets that `config` selects from a file relative to the directory `base`.
///
/// # Errors
/// The file cannot be read, or no packet is selected. The path in the error is relative to `config`.
pub fn read_recording(base: &Path, config: &PcapConfig) -> Result<Recording, ConfigError> {
    let path = base.join(&config.file);
    let shown = path.display();
    let wrong = |message: String| ConfigError::new("file", message);
    let bytes = CAPTURE.read(&path).map_err(|error| {
        let message = match error.kind() {
            io::ErrorKind::NotFound => format!("there is no capture `{shown}`"),
            _ => format!("cannot read the capture `{shown}`: {}", reason(&error)),
        };
        wrong(message).help("the path is relative to the scenario file")
    })?;
    let capture = read(&bytes).map_err(|unreadable| {
        wrong(format!("cannot read the capture `{shown}`: {unreadable}")).help(remedy(&unreadable))
    })?;
    let Some(first) = capture.packets.first().map(|observed| observed.time) else {
        let message =
            format!("the capture `{shown}` has no IP packets, only {} other frames", capture.others);
        return Err(wrong(message).help("only IPv4 and IPv6 packets are replayed"));
    };
    let chosen = chosen(config, &capture)?;
    if chosen.is_empty() {
        let message =
            format!("none of the {} IP packets of the capture `{shown}` matches", capture.packets.len());
        return Err(ConfigError::new("", message).help("relax or remove `match` and `interface`"));
    }
    let beyond = |observed: &&Observed| observed.time - first > Time::LONGEST.as_picoseconds() / 1000;
    if chosen.iter().any(beyond) {
        return Err(wrong(format!("the capture `{shown}` spans more than 50 days"))
            .help("check its timestamps, or cut it, for example with editcap"));
    }
    Ok(recording(config.flows, &chosen, first))
}

fn remedy(unreadable: &Unreadable) -> String {
    match unreadable {
        Unreadable::Unknown => {
            "use a file from Wireshark, tcpdump, dumpcap or `perhop run --pcap`".to_owned()
        }
        Unreadable::Truncated(_) | Unreadable::Damaged(..) => {
            "capture it again, or open it in Wireshark and save it as a new file".to_owned()
        }
        Unreadable::LinkType(_) => format!("supported: {}", link_layer::KNOWN),
    }
}

/// Returns the packets that `config` selects.
fn chosen<'c>(config: &PcapConfig, capture: &'c Capture) -> Result<Vec<&'c Observed>, ConfigError> {
    let matches = config.matches.as_ref().map(|matches| matches.build(&[])).transpose();
    let matches = matches.map_err(|error| error.within("match"))?;
    if let Some(interface) = &config.interface
        && !capture.interfaces.contains(interface)
    {
        let message = format!("the capture `{}` has no interface `{interface}`", config.file);
        let known = capture.interfaces.iter().map(String::as_str).filter(|name| !name.is_empty());
        return Err(ConfigError::new("interface", message).help(suggest("interfaces", interface, known)));
    }
    let is_chosen = |observed: &&Observed| {
        config.interface.as_ref().is_none_or(|name| capture.interfaces[observed.interface] == *name)
            && matches.as_ref().is_none_or(|matches| matches.matches(&observed.packet))
    };
    Ok(capture.packets.iter().filter(is_chosen).collect())
}

/// Groups `chosen` into flows. Times are relative to `first`, the time of the first packet in the file,
/// nanoseconds.
fn recording(flows: ReplayedFlows, chosen: &[&Observed], first: u64) -> Recording {
    let mut keys: Vec<Option<FlowKey>> = Vec::new();
    let mut numbers: BTreeMap<Option<FlowKey>, u32> = BTreeMap::new();
    let packets = chosen.iter().map(|observed| {
        let key = match flows {
            ReplayedFlows::AsCaptured => Some(observed.packet.flow_key()),
            ReplayedFlows::One => None,
        };
        let flow = *numbers.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        });
        Recorded {
            time: Time::from_picoseconds((observed.time - first) * 1000),
            flow,
            length: observed.packet.length,
            dscp: observed.packet.dscp,
            marks: observed.packet.marks,
            input: observed.packet.input,
            tcp: observed.tcp.as_ref().map(numbers_of).unwrap_or_default(),
        }
    });
    let packets = packets.collect();
    Recording { flows: keys, packets }
}

fn numbers_of(fields: &TcpFields) -> TcpNumbers {
    use crate::tcp::Flags;
    let bits = [
        (fields.syn, Flags::SYN),
        (fields.acknowledgment.is_some(), Flags::ACK),
        (fields.fin, Flags::FIN),
        (fields.ece, Flags::ECE),
        (fields.cwr, Flags::CWR),
        (fields.ae, Flags::AE),
    ];
    let set = bits.into_iter().filter(|(set, _)| *set).map(|(_, bit)| bit);
    TcpNumbers {
        sequence: fields.sequence,
        acknowledgment: fields.acknowledgment.unwrap_or(0),
        window: fields.window,
        flags: set.fold(Flags::default(), |flags, bit| flags | bit),
    }
}
