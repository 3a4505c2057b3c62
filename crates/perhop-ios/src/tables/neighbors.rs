//! `show cdp neighbors` and `show lldp neighbors`, with and without `detail`. Source of the layouts: Cisco's
//! command references. Without `detail`, an output is a table with one line per neighbor, or two lines if the
//! name is long. With `detail`, each neighbor has a block of `Key: value` lines.

use perhop_device::{DeviceTables, ShownNeighbor};

use super::names::neighbor;

const CDP: &str = "CDP";
const LLDP: &str = "LLDP";
/// The width of the name column of LLDP. No space follows a name of this length.
const LLDP_NAME: usize = 20;

/// The neighbors of one output.
#[derive(Default)]
pub(super) struct Neighbors {
    found: Vec<ShownNeighbor>,
    table: Option<Table>,
    /// The name of a device that is alone on the previous line.
    long_name: Option<String>,
    block: Block,
}

/// The table that a heading begins.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    Cdp,
    Lldp,
}

/// A neighbor of an output with `detail`.
#[derive(Default)]
struct Block {
    interface: Option<String>,
    device: Option<String>,
    far_interface: Option<String>,
    far_description: Option<String>,
}

impl Neighbors {
    /// Ends the output and adds its neighbors.
    pub(super) fn ended(mut self, found: &mut DeviceTables) -> Neighbors {
        self.end_block(LLDP);
        for neighbor in self.found {
            if !found.neighbors.contains(&neighbor) {
                found.neighbors.push(neighbor);
            }
        }
        Neighbors::default()
    }

    /// Reads a line.
    pub(super) fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Device", "ID", "Local", "Intrfce" | "Intrfc", ..] => self.table = Some(Table::Cdp),
            ["Device", "ID", "Local", "Intf", ..] => self.table = Some(Table::Lldp),
            [] => (self.table, self.long_name) = (self.table.filter(|_| self.found.is_empty()), None),
            _ => match self.table {
                Some(table) => self.row(table, line, &words),
                None => self.detail(line),
            },
        }
    }

    fn row(&mut self, table: Table, line: &str, words: &[&str]) {
        if let ([only], None) = (words, &self.long_name) {
            self.long_name = Some((*only).to_owned());
            return;
        }
        let (device, rest) = match self.long_name.take() {
            Some(name) => (name, words.to_vec()),
            None if table == Table::Lldp && line.is_char_boundary(LLDP_NAME) && line.len() > LLDP_NAME => {
                let (name, rest) = line.split_at(LLDP_NAME);
                (name.trim().to_owned(), rest.split_whitespace().collect())
            }
            None => (words[0].to_owned(), words[1..].to_vec()),
        };
        // The hold time follows the local interface, which has one or two words.
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let Some(hold) = rest.iter().skip(1).take(2).position(is_number).map(|place| place + 1) else {
            return;
        };
        let far = match &rest[hold + 1..] {
            [] => return,
            // `Gig 0/1`, `Eth 1/0`, `Port 1`; the word before `Gi0/1` is the platform.
            [.., kind, number] if number.starts_with(|first: char| first.is_ascii_digit()) => {
                format!("{kind}{number}")
            }
            [.., whole] => (*whole).to_owned(),
        };
        let protocol = if table == Table::Cdp { CDP } else { LLDP };
        self.found.push(neighbor(&rest[..hold].concat(), &device, &far, protocol));
    }

    fn detail(&mut self, line: &str) {
        if line.starts_with("-----") {
            return self.end_block(LLDP);
        }
        let Some((key, value)) = line.split_once(':') else { return };
        let value = value.trim().to_owned();
        let is_known = !value.is_empty() && !value.contains("not advertised");
        let value = is_known.then_some(value);
        match key.trim() {
            "Device ID" => {
                self.end_block(LLDP);
                self.block.device = value;
            }
            "Interface" => {
                // `Interface: GigabitEthernet0/0,  Port ID (outgoing port): GigabitEthernet0/1`
                let (own, far) = value.as_deref().and_then(|value| value.split_once(',')).unwrap_or_default();
                self.block.interface = (!own.is_empty()).then(|| own.trim().to_owned());
                self.block.far_interface = far.rsplit_once(':').map(|(_, far)| far.trim().to_owned());
                self.end_block(CDP);
            }
            "Local Intf" => {
                self.end_block(LLDP);
                self.block.interface = value;
            }
            "Port id" => self.block.far_interface = value,
            "Port Description" => self.block.far_description = value,
            "System Name" => self.block.device = value,
            _ => {}
        }
    }

    /// Adds the neighbor of a block if the block names both interfaces and the device.
    fn end_block(&mut self, protocol: &'static str) {
        let Block { interface, device, far_interface, far_description } = std::mem::take(&mut self.block);
        // If the identifier of the port is an address, the description contains the name.
        let far = far_interface.filter(|far| far.contains('/')).or(far_description);
        if let (Some(interface), Some(device), Some(far)) = (interface, device, far) {
            self.found.push(neighbor(&interface, &device, &far, protocol));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tables::read;

    fn found(text: &str) -> Vec<String> {
        let neighbors = read(text).neighbors;
        let line = |neighbor: perhop_device::ShownNeighbor| {
            format!(
                "{} - {} {} {}",
                neighbor.interface, neighbor.device, neighbor.far_interface, neighbor.protocol
            )
        };
        neighbors.into_iter().map(line).collect()
    }

    #[test]
    fn tables_have_one_line_or_two_for_each_neighbor() {
        let cdp = "\
Capability Codes: R - Router, T - Trans Bridge, B - Source Route Bridge

Device ID        Local Intrfce     Holdtme    Capability  Platform  Port ID
R2               Gig 0/0           137              R S I  CISCO2911 Gig 0/1
a-very-long-name.example.com
                 Ser 0/1/0         160              R S    C1841     Ser 0/0
SEP001122334455  Fas 0/3           141              H P M  IP Phone  Port 1

Total cdp entries displayed : 3
";
        assert_eq!(
            found(cdp),
            [
                "GigabitEthernet0/0 - R2 GigabitEthernet0/1 CDP",
                "Serial0/1/0 - a-very-long-name.example.com Serial0/0 CDP",
                "FastEthernet0/3 - SEP001122334455 Port1 CDP",
            ]
        );
        let lldp = "\
Capability codes:
    (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device

Device ID           Local Intf     Hold-time  Capability      Port ID
R3                  Gi0/1          120        R               Gi0/2
core-switch-number-2Te1/1/1        120        B,R             Te1/0/7

Total entries displayed: 2
";
        assert_eq!(
            found(lldp),
            [
                "GigabitEthernet0/1 - R3 GigabitEthernet0/2 LLDP",
                "TenGigabitEthernet1/1/1 - core-switch-number-2 TenGigabitEthernet1/0/7 LLDP",
            ]
        );
    }

    #[test]
    fn details_have_a_block_for_each_neighbor() {
        let text = "\
R1#show cdp neighbors detail
-------------------------
Device ID: R2.example.com
Entry address(es):
  IP address: 192.0.2.2
Platform: Cisco 2911,  Capabilities: Router Switch IGMP
Interface: GigabitEthernet0/0,  Port ID (outgoing port): GigabitEthernet0/1
Holdtime : 137 sec

R1#show lldp neighbors detail
------------------------------------------------
Local Intf: Gi0/1
Chassis id: 0011.2233.4455
Port id: Gi0/2
Port Description: to R1
System Name: R3.example.com

System Description:
Cisco IOS Software, Version 15.2

------------------------------------------------
Local Intf: Gi0/2
Chassis id: 0011.2233.4466
Port id: 0011.2233.4466
Port Description: GigabitEthernet1/0/1
System Name: SW1

Total entries displayed: 2
";
        assert_eq!(
            found(text),
            [
                "GigabitEthernet0/0 - R2.example.com GigabitEthernet0/1 CDP",
                "GigabitEthernet0/1 - R3.example.com GigabitEthernet0/2 LLDP",
                "GigabitEthernet0/2 - SW1 GigabitEthernet1/0/1 LLDP",
            ]
        );
    }
}
