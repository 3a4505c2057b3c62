//! [`Devices`]: a cache of read configurations.

use std::sync::{Arc, Mutex, PoisonError};

use perhop_device::{DeviceModel, FrontEnd, FrontEnds, ParseOptions};
use perhop_qos::ConfigError;

/// A device, and the front end that read its configuration.
#[derive(Clone)]
pub struct Device<'a> {
    /// The model of the device.
    pub model: Arc<DeviceModel>,
    /// The front end that read the configuration.
    pub front_end: &'a dyn FrontEnd,
}

/// A text that was read with options, and the device that the text configures.
struct Known<'a> {
    text: String,
    options: ParseOptions,
    device: Device<'a>,
}

/// A cache that reads each text with the same options only once.
pub struct Devices<'a> {
    front_ends: FrontEnds<'a>,
    known: Mutex<Vec<Known<'a>>>,
}

impl<'a> Devices<'a> {
    /// Creates an empty cache for the languages of `front_ends`.
    pub fn new(front_ends: FrontEnds<'a>) -> Devices<'a> {
        Devices { front_ends, known: Mutex::new(Vec::new()) }
    }

    /// Returns the device that `text` configures.
    ///
    /// # Errors
    /// An option is invalid: its path begins at a field of [`ParseOptions`].
    pub fn read(&self, text: &str, options: &ParseOptions) -> Result<Device<'a>, ConfigError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = known.iter().find(|entry| entry.text == text && entry.options == *options) {
            return Ok(one.device.clone());
        }
        let front_end = self.front_ends.choose(text, options.platform.as_deref())?;
        let device = Device { model: Arc::new(front_end.parse(text, options)?), front_end };
        known.push(Known { text: text.to_owned(), options: options.clone(), device: device.clone() });
        Ok(device)
    }

    /// Returns the number of texts that were read so far.
    pub fn reads(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Appends the commands of `added`, one line each, to a configuration.
pub fn with_added(text: &str, added: &[String]) -> String {
    // Each element becomes exactly one line, so that findings can be mapped back to it.
    let added: String = added.iter().map(|command| command.replace('\n', " ") + "\n").collect();
    format!("{}\n{added}", text.trim_end_matches('\n'))
}
