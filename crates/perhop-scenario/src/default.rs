//! Defaults of keys, for serde: `#[serde(default = "number::<u32, 1>")]`.

use perhop_qos::units::ByteSize;

pub(crate) fn number<T: From<u16>, const N: u16>() -> T {
    N.into()
}
pub(crate) fn bytes<const N: u64>() -> ByteSize {
    ByteSize::from_bytes(N)
}
