//! Reading the output of `show platform hardware fed … qos queue stats interface`.

use std::collections::BTreeMap;

use perhop_device::intent::Direction;
use perhop_device::show::{ClassReading, PolicyReading};
use perhop_qos::ConfigError;

use super::fed::THRESHOLDS;

/// The policy name for the comparison of the queues of a port, because the output contains no name.
const NAME: &str = "queues of the chip";

/// A table of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Enqueued,
    Dropped,
}

/// Whether a text contains an output of this command.
pub(super) fn is_output(text: &str) -> bool {
    text.contains("Hardware Enqueue Counters") && text.contains("Enqueue-TH0")
}

/// Returns the queues of the ports in an output.
///
/// # Errors
/// A row is incomplete, or a table is missing.
pub(super) fn read(output: &str) -> Result<Vec<PolicyReading>, ConfigError> {
    let mut found: Vec<PolicyReading> = Vec::new();
    let mut interface = String::new();
    let mut table = None;
    for (index, line) in output.lines().enumerate() {
        if let Some((_, name)) = line.split_once("qos queue stats interface") {
            interface = crate::interface_name(name.trim());
            table = None;
        } else if line.contains("Hardware Enqueue Counters") {
            found.push(PolicyReading {
                interface: std::mem::take(&mut interface),
                side: Direction::Output,
                name: NAME.to_owned(),
                classes: Vec::new(),
            });
            table = Some(Table::Enqueued);
        } else if line.contains("Hardware Drop Counters") {
            table = Some(Table::Dropped);
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(table), Some(port), Some(number)) = (table, found.last_mut(), queue_number(&words)) else {
            continue;
        };
        let numbers: Option<Vec<u64>> = words[1..].iter().map(|word| word.parse().ok()).collect();
        let numbers = numbers.ok_or_else(|| not_whole(index + 1))?;
        row(port, table, number, &numbers).ok_or_else(|| not_whole(index + 1))?;
    }
    if found.iter().flat_map(|port| &port.classes).any(|queue| queue.number("dropped_bytes").is_none()) {
        return Err(not_whole(output.lines().count()));
    }
    Ok(found)
}

fn queue_number<'t>(words: &[&'t str]) -> Option<&'t str> {
    words.first().copied().filter(|word| word.len() == 1 && word.as_bytes()[0].is_ascii_digit())
}

/// Adds the numbers of a queue; `None` if numbers are missing. Older releases have no columns for policers.
fn row(port: &mut PolicyReading, table: Table, number: &str, numbers: &[u64]) -> Option<()> {
    let path = vec![format!("queue {number}")];
    let sum = |numbers: &[u64]| numbers.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    match table {
        Table::Enqueued => {
            let (units, enqueued) = (*numbers.first()?, numbers.get(1..=THRESHOLDS)?);
            let mut values = BTreeMap::from([("units".to_owned(), units)]);
            values.insert("sent_bytes".to_owned(), sum(enqueued));
            for (index, bytes) in enqueued.iter().enumerate() {
                values.insert(format!("enqueued_th{index}_bytes"), *bytes);
            }
            port.classes.push(ClassReading { path, numbers: values, ..ClassReading::default() });
        }
        Table::Dropped => {
            let queue = port.classes.iter_mut().find(|queue| queue.path == path)?;
            let thresholds = numbers.get(..THRESHOLDS)?;
            let [memory, entries, policer @ ..] = &numbers[THRESHOLDS..] else { return None };
            for (index, bytes) in thresholds.iter().enumerate() {
                queue.numbers.insert(format!("dropped_th{index}_bytes"), *bytes);
            }
            queue.numbers.insert("dropped_memory_bytes".to_owned(), *memory);
            queue.numbers.insert("dropped_entries_bytes".to_owned(), *entries);
            queue.numbers.insert("dropped_policer_bytes".to_owned(), sum(policer));
            let dropped = sum(numbers);
            let arrived = queue.number("sent_bytes")?.saturating_add(dropped);
            queue.numbers.insert("dropped_bytes".to_owned(), dropped);
            queue.numbers.insert("bytes".to_owned(), arrived);
        }
    }
    Some(())
}

fn not_whole(line: usize) -> ConfigError {
    ConfigError::new("", format!("line {line}: the tables of the queues are incomplete"))
        .help("give the complete output of `show platform hardware fed … qos queue stats interface`")
}
