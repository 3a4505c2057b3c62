//! [`Esp`]: the encapsulating security payload (RFC 4303). Its padding depends on the length of the payload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ip_version::{IpVersion, is_default};
use crate::error::ConfigError;

/// IPsec ESP: the security parameters index, the sequence number, the initialization vector, the padding, the
/// trailer and the integrity check value. In tunnel mode, ESP also has the outer IP header (RFC 4303 §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Esp {
    /// The cipher. It determines the initialization vector and the padding.
    pub cipher: EspCipher,
    /// The integrity algorithm. It determines the integrity check value. Use `none` for a cipher that
    /// includes integrity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub integrity: EspIntegrity,
    /// The encrypted part of the packet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: EspMode,
    /// Whether ESP is carried in UDP for the traversal of address translation, which adds 8 bytes (RFC 3948).
    #[serde(default, skip_serializing_if = "is_default")]
    pub nat_t: bool,
    /// The version of the outer IP header, or, in transport mode, of the IP header before ESP.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over: IpVersion,
}

/// The cipher of ESP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EspCipher {
    /// Triple DES in CBC mode: an initialization vector of 8 bytes and blocks of 8 bytes (RFC 2451).
    #[serde(rename = "3des")]
    TripleDes,
    /// AES in CBC mode: an initialization vector of 16 bytes and blocks of 16 bytes (RFC 3602).
    #[serde(rename = "aes-cbc")]
    AesCbc,
    /// AES in Galois/counter mode: an initialization vector of 8 bytes and an integrity check value of 16
    /// bytes (RFC 4106).
    #[serde(rename = "aes-gcm")]
    AesGcm,
    /// AES in counter mode: an initialization vector of 8 bytes (RFC 3686).
    #[serde(rename = "aes-ctr")]
    AesCtr,
    /// No encryption and no initialization vector (RFC 2410).
    // In YAML, `null` without quotes is not a string.
    #[serde(rename = "none", alias = "null")]
    Null,
}

/// The integrity algorithm of ESP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EspIntegrity {
    /// No integrity algorithm, because the cipher provides integrity.
    #[default]
    None,
    /// HMAC-MD5-96: 12 bytes (RFC 2403).
    Md5,
    /// HMAC-SHA1-96: 12 bytes (RFC 2404).
    Sha1,
    /// HMAC-SHA-256-128: 16 bytes (RFC 4868).
    Sha256,
    /// HMAC-SHA-384-192: 24 bytes (RFC 4868).
    Sha384,
    /// HMAC-SHA-512-256: 32 bytes (RFC 4868).
    Sha512,
}

/// The encrypted part of the packet (RFC 4303 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EspMode {
    /// The whole packet. A new IP header precedes it.
    #[default]
    Tunnel,
    /// The payload of the IP packet.
    Transport,
}

impl EspCipher {
    /// The bytes of the initialization vector in each packet.
    const fn vector(self) -> u64 {
        match self {
            EspCipher::AesCbc => 16,
            EspCipher::TripleDes | EspCipher::AesGcm | EspCipher::AesCtr => 8,
            EspCipher::Null => 0,
        }
    }
    /// The encrypted part is padded to a multiple of this number of bytes: the block of the cipher, but at
    /// least 4 (RFC 4303 §2.4).
    const fn block(self) -> u64 {
        match self {
            EspCipher::TripleDes => 8,
            EspCipher::AesCbc => 16,
            EspCipher::AesGcm | EspCipher::AesCtr | EspCipher::Null => 4,
        }
    }
}

impl Esp {
    /// The bytes of the integrity check value.
    const fn check_value(self) -> u64 {
        match (self.cipher, self.integrity) {
            (EspCipher::AesGcm, _) | (_, EspIntegrity::Sha256) => 16,
            (_, EspIntegrity::None) => 0,
            (_, EspIntegrity::Md5 | EspIntegrity::Sha1) => 12,
            (_, EspIntegrity::Sha384) => 24,
            (_, EspIntegrity::Sha512) => 32,
        }
    }
    /// The mean number of added bytes over all lengths of packets. The padding of RFC 4303 §2.4 has from 0
    /// bytes to one byte less than the block.
    pub const fn mean_added(self) -> u64 {
        let outer = match self.mode {
            EspMode::Tunnel => self.over.header_bytes(),
            EspMode::Transport => 0,
        };
        let udp = if self.nat_t { 8 } else { 0 };
        outer + udp + 8 + self.cipher.vector() + 2 + (self.cipher.block() - 1) / 2 + self.check_value()
    }
    /// The bytes of an IP packet after encryption, if its payload has `carried` bytes.
    pub(super) const fn bytes(self, carried: u64) -> u64 {
        let header = self.over.header_bytes();
        let encrypted = match self.mode {
            EspMode::Tunnel => carried,
            EspMode::Transport => carried.saturating_sub(header),
        };
        // The pad length and the next header are also encrypted (RFC 4303 §2.5 and §2.6).
        let padded = (encrypted + 2).next_multiple_of(self.cipher.block());
        let udp = if self.nat_t { 8 } else { 0 };
        header + udp + 8 + self.cipher.vector() + padded + self.check_value()
    }
    /// Checks that the cipher and the integrity algorithm can be combined.
    pub(super) fn check(self) -> Result<(), ConfigError> {
        match (self.cipher, self.integrity) {
            // RFC 4106 §1: AES-GCM provides both confidentiality and integrity.
            (EspCipher::AesGcm, integrity) if integrity != EspIntegrity::None => {
                Err(ConfigError::new("integrity", "aes-gcm has an integrity check value of its own")
                    .help("remove `integrity`"))
            }
            // RFC 4303 §5: encryption and integrity must not both be absent.
            (EspCipher::Null, EspIntegrity::None) => {
                Err(ConfigError::new("", "neither a cipher nor an integrity algorithm")
                    .help("for example `integrity: sha1`"))
            }
            _ => Ok(()),
        }
    }
}
