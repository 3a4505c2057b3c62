//! Outputs of IOS and IOS-XE that show routes and neighbors: `show ip route`, `show cdp neighbors`,
//! `show lldp neighbors`. A recorded session can contain several outputs.

mod names;
mod neighbors;
mod routes;

use perhop_device::DeviceTables;

use neighbors::Neighbors;
use routes::Routes;

/// Every output contains at least one of these texts.
const SIGNS: [&str; 4] = ["Gateway of last resort", "Codes:", "Device ID", "Local Intf"];

/// Returns the tables in `text`. Skips unknown lines.
pub(crate) fn read(text: &str) -> DeviceTables {
    let mut found = DeviceTables::default();
    // Most texts are large configurations without tables, so a quick search for signs comes first.
    if !SIGNS.iter().any(|sign| text.contains(sign)) {
        return found;
    }
    let (mut routes, mut neighbors) = (Routes::default(), Neighbors::default());
    for line in text.lines() {
        if let Some(prompt) = Prompt::read(line) {
            found.device.get_or_insert(prompt.device.to_owned());
            (routes, neighbors) = (routes.ended(&mut found), neighbors.ended(&mut found));
            routes.begin(prompt.command);
        } else {
            routes.line(line);
            neighbors.line(line);
        }
    }
    routes.ended(&mut found);
    neighbors.ended(&mut found);
    found
}

/// A line on which a user entered a command.
struct Prompt<'a> {
    device: &'a str,
    command: &'a str,
}

impl<'a> Prompt<'a> {
    /// Reads `R1#show ip route`, `R1>sh ip ro` and `R1(config)#do sh ip ro`.
    fn read(line: &'a str) -> Option<Prompt<'a>> {
        let (before, command) = line.trim_end().split_once(['#', '>'])?;
        let device = before.split_once('(').map_or(before, |(name, _)| name).trim_start();
        let is_name =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
        let command = command.trim();
        let command = command.strip_prefix("do ").unwrap_or(command).trim_start();
        let is_prompt = !device.is_empty() && device.chars().all(is_name);
        (is_prompt && (command.is_empty() || command.starts_with("sh"))).then_some(Prompt { device, command })
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_text_without_tables_has_none() {
        for text in ["", "hostname R1\ninterface Gi0/0\n ip address 10.0.0.1 255.0.0.0\n", "a > b\n# c\n"] {
            assert!(read(text).is_empty(), "{text}");
        }
    }
}
