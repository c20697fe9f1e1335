//! Addresses that requests of webhooks may reach.

// `core::net` has addresses, and no sockets.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Error;

/// Addresses that requests of webhooks may reach: public ones, unless the host allows more.
///
/// Whoever creates an endpoint chooses where the host sends requests. So none may lead to the host
/// itself, its network, or the cloud that it runs in.
///
/// An address is public where the [registries of special purposes][IPv4] of IANA have it as neither
/// private, local, shared, reserved nor for documentation, and where it leads to no other address: those
/// that carry an IPv4 address (NAT64, 6to4, Teredo, compatible) are not public. An IPv4-mapped address
/// (`::ffff:192.0.2.1`) is judged as the IPv4 address in it. IPv6 addresses outside of
/// `2000::/3` are not public, nor are those of [protocols][IPv6], `2001::/23`.
///
/// ```
/// use accrue::webhook::Reach;
///
/// let reach = Reach::public().allowing("10.20.0.0/16")?;
/// assert!(reach.allows("8.8.8.8".parse()?));
/// assert!(reach.allows("10.20.1.1".parse()?));
/// for other in ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"] {
///     assert!(!reach.allows(other.parse()?), "{other}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [IPv4]: https://www.iana.org/assignments/iana-ipv4-special-registry
/// [IPv6]: https://www.iana.org/assignments/iana-ipv6-special-registry
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(Extent);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Extent {
    /// Public addresses, and those of some networks.
    Public {
        and: Vec<Network>,
    },
    Everything,
}

impl Reach {
    /// Allows public addresses only, over https.
    #[must_use]
    pub const fn public() -> Self {
        Self(Extent::Public { and: Vec::new() })
    }

    /// Allows any address, and plain http: for tests, and where the network itself keeps requests in.
    #[must_use]
    pub const fn everything() -> Self {
        Self(Extent::Everything)
    }

    /// Allows the addresses of a network too, over https: `10.0.0.0/8`, `fd00::/8`, or a single address.
    ///
    /// An IPv4 network stands for the mapped addresses of it too. One of IPv6 that carries IPv4 addresses,
    /// such as `64:ff9b::/96`, allows all of them.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) of `network` where it is no network, or has
    /// bits behind its prefix.
    pub fn allowing(mut self, network: &str) -> Result<Self, Error> {
        let network = Network::parse(network)?;
        if let Extent::Public { and } = &mut self.0 {
            and.push(network);
        }
        Ok(self)
    }

    /// Tells whether an address may be reached.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        match &self.0 {
            Extent::Everything => true,
            Extent::Public { and } => {
                let address = address.to_canonical();
                is_public(address) || and.iter().any(|network| network.contains(address))
            }
        }
    }

    /// Tells whether requests may be sent over plain http: only where [everything](Self::everything) is
    /// allowed. They carry what customers pay, so a network that is allowed is reached over https.
    #[must_use]
    pub const fn allows_plain_http(&self) -> bool {
        matches!(self.0, Extent::Everything)
    }
}

impl Default for Reach {
    fn default() -> Self {
        Self::public()
    }
}

/// IPv4 networks that are not public.
const SPECIAL_V4: [Network; 15] = [
    // This network; Linux connects to itself.
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    // Shared by the customers of a provider.
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    // Link local; where clouds have their metadata.
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    // Protocols.
    v4([192, 0, 0, 0], 24),
    // Documentation.
    v4([192, 0, 2, 0], 24),
    // Relays of 6to4.
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    // Benchmarks.
    v4([198, 18, 0, 0], 15),
    // Documentation.
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    // Multicast.
    v4([224, 0, 0, 0], 4),
    // Reserved, and broadcast.
    v4([240, 0, 0, 0], 4),
];

/// IPv6 addresses of hosts. Outside are the unspecified address, loopback, compatible and NAT64 addresses,
/// unique and site local ones, multicast, and what nobody has.
const UNICAST_V6: Network = v6([0x2000, 0], 3);

/// Networks among them that are not public.
const SPECIAL_V6: [Network; 4] = [
    // Protocols: Teredo, benchmarks, both ORCHID.
    v6([0x2001, 0], 23),
    // Documentation.
    v6([0x2001, 0xdb8], 32),
    // 6to4.
    v6([0x2002, 0], 16),
    // Documentation.
    v6([0x3fff, 0], 20),
];

/// Judges an address that is not mapped.
fn is_public(address: IpAddr) -> bool {
    let is_in = |networks: &[Network]| networks.iter().any(|network| network.contains(address));
    match address {
        IpAddr::V4(_) => !is_in(&SPECIAL_V4),
        IpAddr::V6(_) => UNICAST_V6.contains(address) && !is_in(&SPECIAL_V6),
    }
}

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    first: IpAddr,
    prefix: u32,
}

const fn v4([a, b, c, d]: [u8; 4], prefix: u32) -> Network {
    Network { first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
}

const fn v6([a, b]: [u16; 2], prefix: u32) -> Network {
    Network { first: IpAddr::V6(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0)), prefix }
}

impl Network {
    fn parse(text: &str) -> Result<Self, Error> {
        let network = text.split_once('/').map_or_else(
            || text.parse().ok().map(|first| Self { first, prefix: width(first) }),
            |(first, prefix)| {
                let first = first.parse().ok()?;
                let is_number = prefix.bytes().all(|byte| byte.is_ascii_digit());
                let prefix = prefix.parse().ok().filter(|prefix| *prefix <= width(first))?;
                is_number.then_some(Self { first, prefix })
            },
        );
        let Some(network) = network else {
            let message = format!("found {text:?}, expected a network such as 10.0.0.0/8");
            return Err(Error::invalid("network", message));
        };
        let within = width(network.first).saturating_sub(network.prefix);
        let behind =
            bits(network.first) & 1_u128.checked_shl(within).map_or(u128::MAX, |of| of - 1);
        if behind != 0 {
            let message = format!("found {text:?}, expected no bits behind the prefix");
            return Err(Error::invalid("network", message));
        }
        Ok(network.canonical())
    }

    /// Returns the IPv4 network in one of mapped addresses.
    fn canonical(self) -> Self {
        match (self.first.to_canonical(), self.prefix.checked_sub(96)) {
            (first @ IpAddr::V4(_), Some(prefix)) if self.first.is_ipv6() => Self { first, prefix },
            _ => self,
        }
    }

    fn contains(&self, address: IpAddr) -> bool {
        let width = width(address);
        let within = width.saturating_sub(self.prefix);
        let differ = bits(self.first) ^ bits(address);
        width == self::width(self.first) && differ.checked_shr(within).unwrap_or_default() == 0
    }
}

const fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => Ipv4Addr::BITS,
        IpAddr::V6(_) => Ipv6Addr::BITS,
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests;
