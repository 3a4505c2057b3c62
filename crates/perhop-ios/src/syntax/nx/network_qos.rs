//! `policy-map type network-qos`: lengths of frames, pauses, and congestion control by group.

use crate::ast::{At, NetworkClass, NetworkPause, NetworkPolicy, PauseMemory};
use crate::mode::Mode;
use crate::syntax::command::{Command, irrelevant, modelled, not_modelled, recorded};
use crate::words::{Finding, Reader, Reading};

const NO_DROP: &str = "the switch pauses the neighbor; perhop does so only at ports with \
                       `priority-flow-control mode on`, with this policy under `system qos`";

pub(super) const POLICY: &[Command<NetworkPolicy>] = &[modelled("class", class), irrelevant("description")];

pub(super) const CLASS: &[Command<NetworkClass>] = &[
    recorded(
        "mtu",
        "the switch drops longer frames of the class, but perhop does not; the MTU of an interface permits \
         longer frames",
        |class, reader| {
            let bytes = if reader.negated() { None } else { Some(reader.number("bytes", 576..=9216)?) };
            reader.end()?;
            class.mtu = bytes.map(|bytes| At::new(reader.line, bytes));
            Ok(())
        },
    ),
    recorded("pause", NO_DROP, |class, reader| {
        let pause = if reader.negated() { None } else { Some(pause(reader)?) };
        class.pause = pause.map(|pause| At::new(reader.line, pause));
        Ok(())
    }),
    // The switch writes these lines for the classes of the system. The lines only repeat the group of the
    // class.
    irrelevant("match"),
    irrelevant("description"),
    irrelevant("congestion-control tail-drop"),
    not_modelled("congestion-control", "packets are dropped before the queue is full"),
    not_modelled("queue-limit", "the line sets the memory of the class"),
    not_modelled("set", "the class marks packets"),
    not_modelled("multicast-optimize", "multicast packets get separate queues"),
];

/// Reads `pause no-drop`, `pause pfc-cos N`, each with the memory of the class.
fn pause(reader: &mut Reader) -> Result<NetworkPause, Finding> {
    let mut pause = NetworkPause::default();
    reader.keyword(&["no-drop"]);
    if reader.eat("pfc-cos") {
        pause.priority = Some(reader.number("a priority", 0..=7)? as u8);
    }
    if let Some(word) = reader.keyword(&["receive"]) {
        // The switch obeys pause frames and sends none.
        return Err(Finding::not_modelled(format!(
            "with `{word}` the neighbor can pause the class, but the class pauses no neighbor"
        )));
    }
    if reader.peek().is_some() {
        pause.memory = Some(pause_memory(reader)?);
    }
    reader.end()?;
    Ok(pause)
}

/// Reads `buffer-size BYTES pause-threshold BYTES resume-threshold BYTES`.
pub(super) fn pause_memory(reader: &mut Reader) -> Result<PauseMemory, Finding> {
    let mut number = |word: &'static str| {
        reader.one_of(&[word])?;
        reader.number("bytes", 0..=4_294_967_295)
    };
    let (buffer, pause, resume) =
        (number("buffer-size")?, number("pause-threshold")?, number("resume-threshold")?);
    if resume > pause || pause > buffer {
        return Err(Finding::not_recognized("expected resume-threshold ≤ pause-threshold ≤ buffer-size"));
    }
    Ok(PauseMemory { buffer, pause, resume })
}

/// Reads `class type network-qos NAME`.
fn class(policy: &mut NetworkPolicy, reader: &mut Reader) -> Reading {
    if reader.rest().first() == Some(&"type") {
        reader.next();
        reader.one_of(&["network-qos"])?;
    }
    let name = reader.word("a class-map")?;
    reader.end()?;
    let classes = &mut policy.classes;
    if reader.negated() {
        classes.retain(|class| class.name != name);
        return Ok(Finding::MODELLED);
    }
    let index = classes.iter().position(|class| class.name == name).unwrap_or_else(|| {
        classes.push(NetworkClass { name: name.to_owned(), line: reader.line, mtu: None, pause: None });
        classes.len() - 1
    });
    if let Mode::NetworkPolicy(map) = reader.mode {
        reader.opens = Some(Mode::NetworkClass(map, index));
    }
    Ok(Finding::MODELLED)
}
