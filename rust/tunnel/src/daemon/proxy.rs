//! The PROXY protocol: what a proxy says about the connection that it passes on, before anything else. Both versions, as
//! <https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt> has them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest header of version 1, its end included.
const MAX_V1_LEN: usize = 107;
const V2_SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
const V2_HEADER_LEN: usize = 16;
/// What may follow: addresses of at most 216 bytes, and other information, which is skipped. The format allows 65535
/// bytes, which nobody needs.
const MAX_V2_LEN: usize = 2048;

/// Reads a header, and not a byte more. Returns none if the proxy connects for itself, or does not know who connects.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidData`] if it is not one, or too long.
pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<SocketAddr>> {
    // Any header of either version is longer.
    let mut header = vec![0; V2_SIGNATURE.len()];
    stream.read_exact(&mut header).await?;
    if header == V2_SIGNATURE {
        header.resize(V2_HEADER_LEN, 0);
        stream.read_exact(&mut header[V2_SIGNATURE.len()..]).await?;
        let len = usize::from(u16::from_be_bytes([header[14], header[15]]));
        if len > MAX_V2_LEN {
            return Err(invalid());
        }
        header.resize(V2_HEADER_LEN + len, 0);
        stream.read_exact(&mut header[V2_HEADER_LEN..]).await?;
        return parse_v2(&header).ok_or_else(invalid);
    }
    if !header.starts_with(b"PROXY ") {
        return Err(invalid());
    }
    // Byte by byte, since what follows is not for us.
    while !header.ends_with(b"\n") {
        if header.len() == MAX_V1_LEN {
            return Err(invalid());
        }
        header.push(stream.read_u8().await?);
    }
    parse_v1(&header).ok_or_else(invalid)
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a header of the PROXY protocol")
}

/// Who connects, as far as a valid header says.
type Claim = Option<SocketAddr>;

fn parse_v1(header: &[u8]) -> Option<Claim> {
    let line = str::from_utf8(header)
        .ok()?
        .strip_suffix("\r\n")?
        .strip_prefix("PROXY ")?;
    // What follows has no meaning.
    if line == "UNKNOWN" || line.starts_with("UNKNOWN ") {
        return Some(None);
    }
    let words: Vec<_> = line.split(' ').collect();
    let [family, source, destination, source_port, destination_port] = *words.as_slice() else {
        return None;
    };
    let address = |text: &str| -> Option<IpAddr> {
        match family {
            "TCP4" => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
            "TCP6" => text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            _ => None,
        }
    };
    let port = |text: &str| -> Option<u16> {
        let is_decimal = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        if is_decimal { text.parse().ok() } else { None }
    };
    address(destination)?;
    port(destination_port)?;
    Some(Some(SocketAddr::new(address(source)?, port(source_port)?)))
}

/// For a header of the right length.
fn parse_v2(header: &[u8]) -> Option<Claim> {
    let (head, rest) = header.split_first_chunk::<V2_HEADER_LEN>()?;
    let is_local = match head[12] {
        0x20 => true,
        0x21 => false,
        _ => return None,
    };
    let port = |bytes: &[u8]| Some(u16::from_be_bytes(*bytes.first_chunk()?));
    let claim = match head[13] {
        // Unspecified.
        0x00 => None,
        // TCP over IPv4: two addresses, two ports.
        0x11 => {
            let addresses = rest.get(..12)?;
            let source = Ipv4Addr::from(*addresses.first_chunk::<4>()?);
            Some(SocketAddr::new(source.into(), port(&addresses[8..])?))
        }
        // TCP over IPv6.
        0x21 => {
            let addresses = rest.get(..36)?;
            let source = Ipv6Addr::from(*addresses.first_chunk::<16>()?);
            Some(SocketAddr::new(source.into(), port(&addresses[32..])?))
        }
        // A Unix socket: it names no source.
        0x31 => {
            rest.get(..216)?;
            None
        }
        // About itself, the proxy may say anything.
        _ if is_local => None,
        _ => return None,
    };
    Some(claim.filter(|_| !is_local))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    fn v2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let len = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [V2_SIGNATURE.as_slice(), &[command, family], &len, rest].concat()
    }

    fn ipv4() -> Vec<u8> {
        vec![192, 0, 2, 7, 10, 0, 0, 1, 0x12, 0x34, 0, 80]
    }

    fn ipv6() -> Vec<u8> {
        let [source, destination] =
            ["2001:db8::7", "::1"].map(|text| text.parse::<Ipv6Addr>().unwrap().octets());
        [&source[..], &destination, &[0x12, 0x34, 0, 80]].concat()
    }

    /// What is read of a stream that ends there, and what is left.
    async fn read_of(bytes: &[u8]) -> (io::Result<Claim>, Vec<u8>) {
        let mut rest = bytes;
        let result = read(&mut rest).await;
        (result, rest.to_vec())
    }

    fn headers() -> Vec<(Vec<u8>, Claim)> {
        let [four, six] = ["192.0.2.7:4660", "[2001:db8::7]:4660"].map(|text| Some(text.parse().unwrap()));
        let text = |text: &str| text.as_bytes().to_vec();
        vec![
            (text("PROXY TCP4 192.0.2.7 10.0.0.1 4660 80\r\n"), four),
            (text("PROXY TCP6 2001:db8::7 ::1 4660 80\r\n"), six),
            (text("PROXY UNKNOWN\r\n"), None),
            (
                text("PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n"),
                None,
            ),
            (
                text("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
                Some("255.255.255.255:65535".parse().unwrap()),
            ),
            (v2(0x21, 0x11, &ipv4()), four),
            (v2(0x21, 0x11, &[ipv4(), vec![4, 0, 1, 0]].concat()), four),
            (v2(0x21, 0x11, &[ipv4(), vec![0; MAX_V2_LEN - 12]].concat()), four),
            (v2(0x21, 0x21, &ipv6()), six),
            (v2(0x21, 0x31, &[b'x'; 216]), None),
            (v2(0x21, 0x00, &[]), None),
            (v2(0x21, 0x00, b"whatever"), None),
            (v2(0x20, 0x00, &[]), None),
            (v2(0x20, 0x11, &ipv4()), None),
            (v2(0x20, 0x42, &[]), None),
        ]
    }

    /// A header is read to its last byte; cut anywhere, it is an error.
    #[tokio::test]
    async fn headers_are_read() {
        for (header, claim) in headers() {
            let shown = header.escape_ascii().to_string();
            let (result, rest) = read_of(&[&header[..], b"PROXY"].concat()).await;
            assert_eq!(result.unwrap(), claim, "{shown}");
            assert_eq!(rest, b"PROXY", "{shown}");
            for cut in 0..header.len() {
                let (result, _) = read_of(&header[..cut]).await;
                assert_eq!(
                    result.unwrap_err().kind(),
                    io::ErrorKind::UnexpectedEof,
                    "{shown} {cut}"
                );
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_header() {
        let long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(92));
        assert_eq!(long.len(), 108);
        let mut wrong: Vec<Vec<u8>> = [
            "PROXY TCP4 192.0.2.7 10.0.0.1 4660 80\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 4660\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 4660 80 1\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 4660 80 \r\n",
            "PROXY TCP4  192.0.2.7 10.0.0.1 4660 80\r\n",
            "PROXY TCP4 192.0.2.256 10.0.0.1 4660 80\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0 4660 80\r\n",
            "PROXY TCP4 192.0.2.07 10.0.0.1 4660 80\r\n",
            "PROXY TCP4 ::1 ::1 4660 80\r\n",
            "PROXY TCP6 192.0.2.7 10.0.0.1 4660 80\r\n",
            "PROXY TCP6 fe80::1%eth0 ::1 4660 80\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 65536 80\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 04660 80\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 +4660 80\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 4660 -80\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1  80\r\n",
            "PROXY UDP4 192.0.2.7 10.0.0.1 4660 80\r\n",
            "PROXY UNKNOWNX\r\n",
            "PROXY\tTCP4 192.0.2.7 10.0.0.1 4660 80\r\n",
            "proxy TCP4 192.0.2.7 10.0.0.1 4660 80\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            &long,
        ]
        .map(|text| text.as_bytes().to_vec())
        .into();
        wrong.push(b"PROXY UNKNOWN \xff\r\n".to_vec());
        wrong.push([b"PROXY ".as_slice(), &vec![b'x'; 1 << 16]].concat());
        wrong.push(vec![0; 1 << 16]);
        wrong.extend([
            v2(0x11, 0x11, &ipv4()),
            v2(0x22, 0x11, &ipv4()),
            v2(0x21, 0x12, &ipv4()),
            v2(0x21, 0x10, &ipv4()),
            v2(0x21, 0x41, &ipv4()),
            v2(0x21, 0x11, &ipv4()[..11]),
            v2(0x21, 0x21, &ipv6()[..35]),
            v2(0x21, 0x31, &[0; 215]),
            v2(0x21, 0x11, &vec![0; MAX_V2_LEN + 1]),
            v2(0x21, 0x00, &vec![0; 65_535]),
        ]);
        for header in wrong {
            let (result, rest) = read_of(&header).await;
            let shown = header[..header.len().min(120)].escape_ascii().to_string();
            let Err(error) = result else { panic!("{shown}") };
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{shown}: {error}");
            // No more is read than a header can have.
            assert!(header.len() - rest.len() <= V2_HEADER_LEN + MAX_V2_LEN, "{shown}");
        }
    }

    /// Each changed byte gives a header or an error; it comes in pieces as well.
    #[tokio::test]
    async fn changed_headers() {
        for (header, claim) in headers() {
            for at in 0..header.len().min(60) {
                for byte in 0..=255 {
                    let mut changed = header.clone();
                    changed[at] = byte;
                    changed.extend(b"and more, so that it need not end");
                    let (result, _) = read_of(&changed).await;
                    if let Err(error) = result {
                        let kind = error.kind();
                        assert!(matches!(
                            kind,
                            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
                        ));
                    }
                }
            }
            let (mut ours, mut theirs) = tokio::io::duplex(1);
            let send = async {
                theirs.write_all(&header).await.unwrap();
            };
            let (read, ()) = tokio::join!(read(&mut ours), send);
            assert_eq!(read.unwrap(), claim);
        }
    }
}
