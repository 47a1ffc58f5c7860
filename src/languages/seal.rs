/// What a linked program puts before each of its lines: a keyed digest (SipHash-2-4) of the line and its number. Who reads
/// or holds up the lines on their way learns nothing that would let him write or change one.
pub struct Seal {
    key: [u64; 2],
}

impl Seal {
    /// Of a process, by its nonce: 32 hexadecimal digits. Any other text is a key of zeros.
    pub fn of(nonce: &str) -> Self {
        let half = |digits: Option<&str>| digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
        Self { key: [half(nonce.get(..16)), half(nonce.get(16..))] }
    }

    /// The digest of a line without its end, as 16 hexadecimal digits; the first line has number 0.
    pub fn digest(&self, number: u64, line: &str) -> String {
        let text = format!("{number} {line}");
        let mut state = [
            self.key[0] ^ 0x736f_6d65_7073_6575,
            self.key[1] ^ 0x646f_7261_6e64_6f6d,
            self.key[0] ^ 0x6c79_6765_6e65_7261,
            self.key[1] ^ 0x7465_6462_7974_6573,
        ];
        let mut blocks = text.as_bytes().chunks_exact(8);
        for block in blocks.by_ref() {
            absorb(&mut state, block.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        let last = blocks.remainder().iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        absorb(&mut state, last | (text.len() as u64) << 56);
        state[2] ^= 0xff;
        (0..4).for_each(|_| round(&mut state));
        format!("{:016x}", state.into_iter().fold(0, |all, word| all ^ word))
    }
}

fn absorb(state: &mut [u64; 4], word: u64) {
    state[3] ^= word;
    round(state);
    round(state);
    state[0] ^= word;
}

fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *c = c.wrapping_add(*d);
    *b = b.rotate_left(13) ^ *a;
    *d = d.rotate_left(16) ^ *c;
    *a = a.rotate_left(32).wrapping_add(*d);
    *c = c.wrapping_add(*b);
    *d = d.rotate_left(21) ^ *a;
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::Seal;

    #[test]
    #[expect(deprecated, reason = "the standard library has the same function, to compare with")]
    fn the_digest_is_sip_hash_2_4() {
        use std::hash::{Hasher, SipHasher};
        let seal = Seal::of("000102030405060708090a0b0c0d0e0f");
        for line in ["", "begin 1", "done 12345", "passed 1234567", "failed 1 - 313233"] {
            let mut known = SipHasher::new_with_keys(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
            known.write(format!("7 {line}").as_bytes());
            assert_eq!(seal.digest(7, line), format!("{:016x}", known.finish()), "{line}");
        }
        assert_ne!(seal.digest(7, "passed 1"), seal.digest(8, "passed 1"));
    }
}
