//! `show platform hardware fed … qos queue config interface`: printing and reading.
//!
//! Source of the layout: outputs of a 3850, a 9300 and a 9400 in genieparser. In the first table, the number
//! of a profile of the chip precedes each value. perhop numbers the profiles in their order. perhop prints
//! zeros for the number of the port in the chip and for the weights of a policy, because it does not model
//! these numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

use perhop_device::{DropThreshold, PortMemory, QueueMemory, SwitchMemory};
use perhop_qos::ConfigError;

use super::model::{COMMAND, UNIT_BYTES};

/// The number of queues of a port.
const QUEUES: u8 = 8;
const HEAD: &str = "   DTS  Hardmax  Softmax   PortSMin  GlblSMin  PortStEnd   QEnable\n  \
                    ----- --------  --------  --------  --------  ---------  -------\n";
const LIMITS_HEAD: &str = "   Weight0 Max_Th0 Min_Th0 Weigth1 Max_Th1 Min_Th1  Weight2 Max_Th2 Min_Th2\n  \
     ------- ------- ------- ------- ------- -------  ------- ------- ------\n";

/// Returns the output of the command for a port.
pub(crate) fn print(port: &PortMemory) -> String {
    let mut text = String::from("Asic:0 Core:0 DATA Port:0 GPN:0 LinkSpeed:0x0\n");
    text.push_str("AFD:Disabled FlatAFD:Disabled QoSMap:0 HW Queues: 0 - 7\n");
    let _ = writeln!(text, "  DrainFast:Disabled PortSoftStart:0 - {}", port.soft_start);
    text.push_str(HEAD);
    let unused = |number| QueueMemory {
        number,
        class: String::new(),
        line: None,
        default: None,
        priority_level: None,
        weight: None,
        hard: Some(0),
        soft: Some(0),
        srr: None,
        dynamic_factor: None,
        port_soft_min: Some(0),
        global_soft_min: Some(0),
        thresholds: Vec::new(),
    };
    let queue = |number| {
        port.queues.iter().find(|queue| queue.number == number).cloned().unwrap_or_else(|| unused(number))
    };
    let mut profiles: [Vec<u64>; 4] = Default::default();
    for number in 0..QUEUES {
        let queue = queue(number);
        let values = [queue.hard, queue.soft, queue.port_soft_min, queue.global_soft_min]
            .map(Option::unwrap_or_default);
        let _ = write!(text, " {number}   1");
        for (known, (value, width)) in profiles.iter_mut().zip(values.into_iter().zip([6, 6, 6, 6])) {
            let profile = known.iter().position(|other| *other == value).unwrap_or_else(|| {
                known.push(value);
                known.len() - 1
            });
            let _ = write!(text, " {profile:>2} {value:>width$}");
        }
        let _ = writeln!(text, "  0 {:>5}     Dis", port.soft_end);
    }
    text.push_str(LIMITS_HEAD);
    for number in 0..QUEUES {
        let [first, second, third] = upper(&queue(number));
        let _ = writeln!(
            text,
            " {number}       0  {first:>6}       0       0  {second:>6}       0       0  {third:>6}       0"
        );
    }
    text
}

fn upper(queue: &QueueMemory) -> [u64; 3] {
    let mut limits = [0; 3];
    for (limit, threshold) in limits.iter_mut().rev().zip(queue.thresholds.iter().rev()) {
        *limit = threshold.units.unwrap_or(0);
    }
    limits
}

/// Returns the memory of the ports in an output; `None` for other texts.
///
/// # Errors
/// A table is incomplete.
pub(crate) fn read(output: &str) -> Result<Option<SwitchMemory>, ConfigError> {
    let mut ports: Vec<PortMemory> = Vec::new();
    let mut is_limits = false;
    for (index, line) in output.lines().enumerate() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if let Some(soft_start) = soft_start(line) {
            ports.push(empty_port(soft_start));
            is_limits = false;
        }
        let Some(port) = ports.last_mut() else { continue };
        match words.as_slice() {
            ["DTS" | "Priority", ..] => is_limits = false,
            ["Weight0", ..] => is_limits = true,
            [number, numbers @ ..] if number.len() == 1 && numbers.len() >= 9 => {
                let Ok(number) = number.parse::<u8>() else { continue };
                let values = |count: usize| -> Result<Vec<u64>, ConfigError> {
                    let read = numbers.iter().take(count).map(|word| word.parse());
                    read.collect::<Result<Vec<u64>, _>>().map_err(|_| not_whole(index + 1))
                };
                if is_limits {
                    let values = values(9)?;
                    add_limits(port, number, [values[1], values[4], values[7]], index + 1)?;
                } else {
                    if numbers.len() < 11 {
                        return Err(not_whole(index + 1));
                    }
                    let values = values(11)?;
                    port.soft_end = values[10];
                    port.queues.push(queue(number, [values[2], values[4], values[6], values[8]]));
                }
            }
            _ => {}
        }
    }
    if ports.is_empty() {
        return Ok(None);
    }
    if ports.iter().any(|port| port.queues.iter().all(|queue| queue.thresholds.is_empty())) {
        return Err(not_whole(output.lines().count()));
    }
    for port in &mut ports {
        port.queues.retain(|queue| queue.most_units() > Some(0));
    }
    Ok(Some(SwitchMemory {
        model: COMMAND.to_owned(),
        chip: "UADP".to_owned(),
        unit_bytes: UNIT_BYTES,
        shared_units: None,
        ports,
        unknown: Vec::new(),
        rules: Vec::new(),
        not_modeled: Vec::new(),
        egress_memory: Vec::new(),
        input_queues: Vec::new(),
        queue_sets: Vec::new(),
        maps: BTreeMap::new(),
    }))
}

fn not_whole(line: usize) -> ConfigError {
    ConfigError::new("", format!("line {line}: the table of the queues is incomplete"))
        .help(format!("give the complete output of `{COMMAND} …`"))
}

/// Reads the soft start of a port from the line `DrainFast:Disabled PortSoftStart:2 - 1800`.
fn soft_start(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("PortSoftStart:")?;
    rest.split_ascii_whitespace().nth(2)?.parse().ok()
}

fn empty_port(soft_start: u64) -> PortMemory {
    PortMemory {
        interface: String::new(),
        rate_bps: None,
        units: None,
        policy: None,
        multiplier_percent: None,
        soft_start,
        soft_end: 0,
        queues: Vec::new(),
        assumed: Vec::new(),
        refused: None,
        without_queues: None,
        srr: None,
    }
}

fn queue(number: u8, [hard, soft, port_soft_min, global_soft_min]: [u64; 4]) -> QueueMemory {
    QueueMemory {
        number,
        class: format!("queue {number}"),
        line: None,
        default: None,
        priority_level: None,
        weight: None,
        hard: Some(hard),
        soft: Some(soft),
        srr: None,
        dynamic_factor: None,
        port_soft_min: Some(port_soft_min),
        global_soft_min: Some(global_soft_min),
        thresholds: Vec::new(),
    }
}

fn add_limits(port: &mut PortMemory, number: u8, limits: [u64; 3], line: usize) -> Result<(), ConfigError> {
    let Some(queue) = port.queues.iter_mut().find(|queue| queue.number == number) else {
        return Err(not_whole(line));
    };
    queue.thresholds = limits
        .into_iter()
        .map(|units| DropThreshold { units: Some(units), percent: None, packets: Vec::new(), line: None })
        .collect();
    Ok(())
}
