use std::{fmt, io, str::FromStr};

use aws_lc_rs::digest::{Context, SHA256};

const BYTES: usize = 32;

/// A checksum: SHA-256 (FIPS 180-4), written as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sha256([u8; BYTES]);

impl Sha256 {
    /// Of all that `source` has.
    ///
    /// # Errors
    /// Those of `source`.
    pub fn of(mut source: impl io::Read) -> io::Result<Self> {
        let mut sum = Sum::default();
        io::copy(&mut source, &mut sum)?;
        Ok(sum.finish())
    }
}

impl FromStr for Sha256 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("a SHA-256 is {} hexadecimal digits", BYTES * 2);
        if text.len() != BYTES * 2 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut sum = [0; BYTES];
        for (index, byte) in sum.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(sum))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A checksum of what is written to it.
pub(super) struct Sum(Context);

impl Default for Sum {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Sum {
    /// More bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Of all of them.
    pub fn finish(self) -> Sha256 {
        let mut sum = [0; BYTES];
        sum.copy_from_slice(self.0.finish().as_ref());
        Sha256(sum)
    }
}

impl io::Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Sha256;

    #[test]
    fn sums_are_those_of_the_standard() {
        // The examples of FIPS 180-4: one block, and none.
        let sums = [
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ];
        for (text, sum) in sums {
            assert_eq!(Sha256::of(text.as_bytes()).unwrap().to_string(), sum);
            assert_eq!(sum.to_uppercase().parse::<Sha256>().unwrap(), Sha256::of(text.as_bytes()).unwrap());
        }
        for wrong in ["", "ba78", &"g".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert!(wrong.parse::<Sha256>().is_err(), "{wrong}");
        }
    }
}
