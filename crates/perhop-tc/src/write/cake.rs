//! Writing of CAKE as the queueing discipline of an interface.

use perhop_device::NotesAt;
use perhop_qos::cake::{CakeAckFilter, CakeCells, CakeConfig};

use super::words::{keyword, microseconds};

/// Returns `cake` with its options, whose names in tc-cake(8) are nearly the same.
pub(super) fn discipline(cake: &CakeConfig, notes: &mut NotesAt) -> String {
    let bandwidth = cake.bandwidth.map(|rate| format!("bandwidth {}bit", rate.as_bits_per_second()));
    let mut words = vec![
        "cake".to_owned(),
        bandwidth.unwrap_or_else(|| "unlimited".to_owned()),
        keyword(&cake.tins),
        keyword(&cake.isolation),
        format!("rtt {}", microseconds(cake.rtt)),
    ];
    words.extend(cake.overhead.map(|bytes| format!("overhead {bytes}")));
    if cake.mpu > 0 {
        words.push(format!("mpu {}", cake.mpu));
    }
    let cells = match cake.cells {
        CakeCells::None => "noatm",
        CakeCells::Atm => "atm",
        CakeCells::Ptm => "ptm",
    };
    words.push(cells.to_owned());
    if let Some(limit) = cake.memory_limit {
        words.push(format!("memlimit {}", limit.as_bytes()));
        notes.report("memory-limit", "the kernel counts the buffers of its drivers");
    }
    words.push(if cake.wash { "wash" } else { "nowash" }.to_owned());
    words.push(if cake.ingress { "ingress" } else { "egress" }.to_owned());
    let filter = match cake.ack_filter {
        CakeAckFilter::None => "no-ack-filter",
        CakeAckFilter::Filter => "ack-filter",
        CakeAckFilter::Aggressive => "ack-filter-aggressive",
    };
    words.push(filter.to_owned());
    words.join(" ")
}
