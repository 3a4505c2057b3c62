//! The list of a scenario's traffic. Entries with equal TCP settings share one copy of the settings.

use std::fmt;

use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};

use crate::tcp::SharedTcp;
use crate::traffic::TrafficConfig;

/// Reads the entries. TCP settings are shared while the list is read, so that even the reading of a long list
/// needs little memory.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<TrafficConfig>, D::Error> {
    deserializer.deserialize_seq(Entries)
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<TrafficConfig>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a sequence")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<TrafficConfig>, A::Error> {
        let (mut all, mut known): (Vec<TrafficConfig>, Vec<SharedTcp>) = (Vec::new(), Vec::new());
        while let Some(mut entry) = entries.next_element::<TrafficConfig>()? {
            if let Some(tcp) = entry.source.tcp_mut() {
                tcp.share(&mut known);
            }
            all.push(entry);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::SourceConfig;
    use crate::traffic::TrafficConfig;

    #[test]
    fn equal_settings_of_tcp_are_shared() {
        let entry = |mss: &str| {
            let tcp = json!({"profile": "rfc5681-reno", "mss": mss});
            json!({"name": "a", "from": "a", "to": "b", "source": {"bulk": {"tcp": tcp}}})
        };
        let text = json!([entry("960B"), entry("1460B"), entry("960B")]).to_string();
        let entries: Vec<TrafficConfig> =
            super::read(&mut serde_json::Deserializer::from_str(&text)).expect("the entries are valid");
        let [first, second, third] = [0, 1, 2].map(|index| match &entries[index].source {
            SourceConfig::Bulk(config) => &*config.tcp,
            _ => panic!("not a bulk transfer"),
        });
        assert!(std::ptr::eq(first, third));
        assert_ne!(first, second);
    }
}
