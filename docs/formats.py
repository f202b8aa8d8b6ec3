#!/usr/bin/env python3
"""Opens what formats.md describes, with Python's standard library alone. To be read: it is slow, and not constant-time.

formats.py file KEY FILE                      an encrypted file (version 0x01)
formats.py object KEY CONTEXT PATH FILE       an object of a sealed store
formats.py disk KEY HEADER NUMBER IMAGE       the sector with this number of an encrypted disk

KEY is in hexadecimal. The plaintext goes to standard output."""
import hmac
import sys
from copy import deepcopy
from struct import pack, unpack

# AES: FIPS 197.
POWERS = [1]  # of 3: every byte but 0
for _ in range(254):
    POWERS.append(POWERS[-1] ^ POWERS[-1] << 1 ^ (0x11B if POWERS[-1] & 0x80 else 0))
SBOX = [0x63] * 256
for i, x in enumerate(POWERS):
    inverse = POWERS[-i % 255]
    for n in range(5):
        SBOX[x] ^= (inverse << n | inverse >> 8 - n) & 0xFF
UNSBOX = [SBOX.index(x) for x in range(256)]
DOUBLE = [x << 1 ^ (0x11B if x & 0x80 else 0) for x in range(256)]
ROWS = [(i + 4 * (i % 4)) % 16 for i in range(16)]  # ShiftRows moves byte ROWS[i] to i

def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))

def mix_columns(x):
    columns = [x[i : i + 4] for i in range(0, 16, 4)]
    return bytes(DOUBLE[c[i]] ^ DOUBLE[c[i - 3]] ^ c[i - 3] ^ c[i - 2] ^ c[i - 1] for c in columns for i in range(4))

def aes_round(x, key):
    return xor(mix_columns([SBOX[x[i]] for i in ROWS]), key)

def aes256_decrypt(key, x):
    words = [key[i : i + 4] for i in range(0, 32, 4)]
    for i in range(8, 60):
        word = words[-1][1:] + words[-1][:1] if i % 8 == 0 else words[-1]
        word = [SBOX[x] for x in word] if i % 4 == 0 else word
        words.append(xor(words[-8], xor(word, [1 << i // 8 - 1 if i % 8 == 0 else 0, 0, 0, 0])))
    keys = [b"".join(words[i : i + 4]) for i in range(0, 60, 4)]
    x = xor(x, keys[14])
    for key in keys[13:0:-1]:
        x = xor([UNSBOX[x[ROWS.index(i)]] for i in range(16)], key)
        x = mix_columns(mix_columns(mix_columns(x)))  # four times are none
    return xor([UNSBOX[x[ROWS.index(i)]] for i in range(16)], keys[0])

# Newplex: the permutation, the duplex and the protocol.
def simpira1024(state):
    x, s, t, c = [bytes(state[i : i + 16]) for i in range(0, 128, 16)], [0, 1, 6, 5, 4, 3], [2, 7], 1
    for r in range(18):
        steps = [(s[(r + 1) % 6], s[r % 6]), (s[(r + 5) % 6], t[r % 2])]
        steps += [(s[(r + 3) % 6], s[(r + 4) % 6]), (t[(r + 1) % 2], s[(r + 2) % 6])]
        before = list(x)
        for c, (to, source) in enumerate(steps, c):
            constant = pack("<4I", *(n ^ 8 ^ c for n in (0, 0x10, 0x20, 0x30)))
            x[to] = aes_round(aes_round(before[source], constant), x[to])
        c += 1
    return bytearray(b"".join(x))

class Protocol:
    def __init__(self, domain):
        self.state, self.at, self.frame_at = bytearray(128), 0, 0
        self.header(1, domain)
    def permute(self):
        self.state[self.at] ^= self.frame_at
        self.state[self.at + 1] ^= 0x01
        self.state[95] ^= 0x80
        self.state, self.at, self.frame_at = simpira1024(self.state), 0, 0
    def each(self, data, step):
        """Passes bytes through the state: `step` makes the output and the new byte of the state."""
        output = bytearray()
        for byte in data:
            out, self.state[self.at] = step(self.state[self.at], byte)
            output.append(out)
            self.at += 1
            if self.at == 94:
                self.permute()
        return bytes(output)
    def absorb(self, data):
        self.each(data, lambda state, byte: (0, state ^ byte))
    def squeeze(self, n):
        return self.each(bytes(n), lambda state, _: (state, 0))
    def decrypt(self, data):
        return self.each(data, lambda state, byte: (state ^ byte, byte))
    def frame(self, number):
        self.absorb([self.frame_at])
        self.frame_at = self.at
        self.absorb([number])
    def header(self, operation, label):
        self.frame(operation)
        self.absorb(label.encode())
        self.frame(operation | 0x80)
    def length(self, n):
        while n > 0x7F:
            self.absorb([n & 0x7F | 0x80])
            n >>= 7
        self.absorb([n])
        self.permute()
    def mix(self, label, data):
        self.header(2, label)
        self.absorb(data)
        return self
    def derive(self, label, n):
        self.header(3, label)
        self.length(n)
        return self.squeeze(n)
    def open(self, label, sealed):
        self.header(5, label)
        self.length(len(sealed) - 16)
        plaintext = self.decrypt(sealed[:-16])
        self.permute()
        if not hmac.compare_digest(self.squeeze(16), sealed[-16:]):
            sys.exit(f"not authentic: {label}")
        return plaintext

def check(tag, domain, key, message):
    if not hmac.compare_digest(tag, Protocol(domain).mix("key", key).mix("message", message).derive("tag", 16)):
        sys.exit("wrong key, or damaged header")

def open_segments(domain, key, nonce, ad, length, sealed):
    base = Protocol(domain).mix("key", key).mix("nonce", nonce).mix("ad", ad).mix("segment-length", pack("<I", length))
    count = max(1, -(-len(sealed) // (length + 16)))
    for i in range(count):
        segment = deepcopy(base).mix("segment", pack("<Q?", i, i == count - 1))
        yield segment.open("message", sealed[i * (length + 16) : (i + 1) * (length + 16)])

def open_file(key, data):
    if data[:9] != b"VERIPLEX\x01":
        sys.exit("not a file of version 0x01")
    check(data[42:58], "veriplex.file.header.v1", key, data[:42])
    return b"".join(open_segments("veriplex.file.seekable.v1", key, data[10:42], data[:10], 16384, data[58:]))

def open_object(master, context, path, data):
    kdf = Protocol("veriplex.store.keys.v1").mix("salt", context).mix("secret", master).mix("info", data[12:44])
    key, (length,) = kdf.derive("key", 32), unpack("<I", data[8:12])
    check(data[44:60], "veriplex.store.header.v1", key, data[:44])
    return b"".join(open_segments("veriplex.store.v1", key, data[12:44], path, length, data[60:]))

# Adiantum.
def chacha(start):
    x = list(start)
    for a, b, c, d in [(i, 4 + (i + n) % 4, 8 + (i + 2 * n) % 4, 12 + (i + 3 * n) % 4) for n in (0, 1) for i in range(4)] * 6:
        for into, by, turned, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[into] = x[into] + x[by] & 0xFFFFFFFF
            word = x[turned] ^ x[into]
            x[turned] = (word << n | word >> 32 - n) & 0xFFFFFFFF
    return x

def stream(key, nonce, n):
    constant, nonce = unpack("<4I", b"expand 32-byte k"), (nonce + b"\1").ljust(24, b"\0")
    x = chacha(constant + unpack("<8I", key) + unpack("<4I", nonce[:16]))
    start, output = constant + tuple(x[:4] + x[12:]), b""
    for counter in range(-(-n // 64)):
        block = start + unpack("<4I", pack("<Q", counter) + nonce[16:])
        output += pack("<16I", *(a + b & 0xFFFFFFFF for a, b in zip(chacha(block), block)))
    return output[:n]

def poly(r, message):
    h, r = 0, int.from_bytes(r, "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    for i in range(0, len(message), 16):
        h = (h + int.from_bytes(message[i : i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return h

def nh(key, piece):
    piece += bytes(-len(piece) % 16)
    k, m = unpack("<268I", key), unpack(f"<{len(piece) // 4}I", piece)
    word = lambda i, j: m[i] + k[i + 4 * j] & 0xFFFFFFFF
    pairs = [(u, u + 2) for i in range(0, len(m), 4) for u in (i, i + 1)]
    return b"".join(pack("<Q", sum(word(a, j) * word(b, j) for a, b in pairs) % 2**64) for j in range(4))

def adiantum_decrypt(key, tweak, message):
    keys, left, right = stream(key, b"", 1136), message[:-16], int.from_bytes(message[-16:], "little")
    def hashed(left):
        pieces = b"".join(nh(keys[64:], left[i : i + 1024]) for i in range(0, len(left), 1024))
        return poly(keys[32:48], (8 * len(left)).to_bytes(16, "little") + tweak) + poly(keys[48:64], pieces)
    block = ((right + hashed(left)) % 2**128).to_bytes(16, "little")
    left = xor(left, stream(key, block, len(left)))
    middle = int.from_bytes(aes256_decrypt(keys[:32], block), "little")
    return left + ((middle - hashed(left)) % 2**128).to_bytes(16, "little")

def open_sector(key, header, number, image):
    magic, version, _, length, offset, _ = unpack("<8sBBIQQ", header[:30])
    if (magic, version) != (b"VPX-DISK", 1):
        sys.exit("not the header of a disk with a key")
    disk = Protocol("veriplex.disk.v1").mix("header", header[:30]).mix("key", key).mix("nonce", header[30:62])
    sectors, _ = disk.derive("sectors", 32), disk.derive("tags", 32)
    disk.mix("state", header[62:79]).open("image", header[79:])
    place = offset + number * length
    return adiantum_decrypt(sectors, number.to_bytes(32, "little"), image[place : place + length])

def main(kind, key, *rest):
    *middle, path = rest
    key, data = bytes.fromhex(key), open(path, "rb").read()
    if kind == "file":
        output = open_file(key, data)
    elif kind == "object":
        output = open_object(key, *(text.encode() for text in middle), data)
    else:
        output = open_sector(key, open(middle[0], "rb").read(), int(middle[1]), data)
    sys.stdout.buffer.write(output)

if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 3 else sys.exit(__doc__)
