//! Reads a GGUF file: its metadata and the place of each tensor.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};

/// A metadata value. Numbers of all widths are kept as `f64`, which holds every id and size.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer, a float or a truth value.
    Number(f64),
    /// A UTF-8 string.
    Text(String),
    /// A list of values of one type.
    List(Vec<Value>),
}

/// The encoding of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// 32-bit floats.
    F32,
    /// Blocks of 32: a scale, a minimum, and 4 bits an element.
    Q4_1,
    /// Blocks of 32: a scale, and 8 bits an element.
    Q8_0,
}

impl Encoding {
    /// Number of elements in a block, and its size in bytes.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::Q4_1 => (32, 20),
            Self::Q8_0 => (32, 34),
        }
    }
}

/// Where a tensor lies in the file.
#[derive(Clone, Debug)]
pub struct Place {
    /// Number of elements in a row.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
    /// The encoding of the elements.
    pub encoding: Encoding,
    /// Offset of the first byte in the file.
    pub offset: usize,
}

/// The parsed header of a GGUF file, version 2 or 3.
pub struct Header {
    /// Metadata by key.
    pub metadata: HashMap<String, Value>,
    /// Tensors by name.
    pub tensors: HashMap<String, Place>,
}

impl Header {
    /// Parses the header at the start of `file`.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let mut reader = Reader { rest: file };
        ensure!(reader.take(4)? == b"GGUF", "not a GGUF file");
        let version = reader.u32()?;
        ensure!((2..=3).contains(&version), "GGUF version {version} is not supported");
        let (tensor_count, pair_count) = (reader.u64()?, reader.u64()?);
        let mut metadata = HashMap::new();
        for _ in 0..pair_count {
            let key = reader.text()?;
            let kind = reader.u32()?;
            metadata.insert(key, reader.value(kind)?);
        }
        let mut tensors = HashMap::new();
        for _ in 0..tensor_count {
            let name = reader.text()?;
            tensors.insert(name, reader.place()?);
        }
        let start = (file.len() - reader.rest.len()).next_multiple_of(32);
        for place in tensors.values_mut() {
            place.offset += start;
            ensure!(place.offset + place.bytes() <= file.len(), "a tensor ends after the file");
        }
        Ok(Self { metadata, tensors })
    }

    /// Returns the number with the key `key`.
    pub fn number(&self, key: &str) -> Result<f64> {
        match self.metadata.get(key) {
            Some(Value::Number(number)) => Ok(*number),
            _ => bail!("the file has no number `{key}`"),
        }
    }

    /// Returns the list of strings with the key `key`.
    pub fn texts(&self, key: &str) -> Result<Vec<&str>> {
        let Some(Value::List(items)) = self.metadata.get(key) else {
            bail!("the file has no list `{key}`")
        };
        items
            .iter()
            .map(|item| match item {
                Value::Text(text) => Ok(text.as_str()),
                _ => bail!("`{key}` is not a list of strings"),
            })
            .collect()
    }
}

impl Place {
    /// Size of the tensor in the file.
    pub fn bytes(&self) -> usize {
        let (elements, bytes) = self.encoding.block();
        self.columns * self.rows / elements * bytes
    }
}

/// The part of the file that is not read yet.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).context("the file is cut off")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<usize> {
        Ok(u64::from_le_bytes(self.array()?).try_into()?)
    }

    fn text(&mut self) -> Result<String> {
        let length = self.u64()?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn value(&mut self, kind: u32) -> Result<Value> {
        Ok(Value::Number(match kind {
            0 | 7 => f64::from(self.array::<1>()?[0]),
            1 => f64::from(i8::from_le_bytes(self.array()?)),
            2 => f64::from(u16::from_le_bytes(self.array()?)),
            3 => f64::from(i16::from_le_bytes(self.array()?)),
            4 => f64::from(self.u32()?),
            5 => f64::from(i32::from_le_bytes(self.array()?)),
            6 => f64::from(f32::from_le_bytes(self.array()?)),
            8 => return Ok(Value::Text(self.text()?)),
            9 => {
                let kind = self.u32()?;
                ensure!(kind != 9, "lists of lists are not supported");
                let count = self.u64()?;
                return (0..count)
                    .map(|_| self.value(kind))
                    .collect::<Result<_>>()
                    .map(Value::List);
            }
            10 => self.u64()? as f64,
            11 => i64::from_le_bytes(self.array()?) as f64,
            12 => f64::from_le_bytes(self.array()?),
            _ => bail!("metadata of type {kind} is not supported"),
        }))
    }

    fn place(&mut self) -> Result<Place> {
        let dimensions = self.u32()?;
        let sizes = (0..dimensions).map(|_| self.u64()).collect::<Result<Vec<_>>>()?;
        let encoding = match self.u32()? {
            0 => Encoding::F32,
            3 => Encoding::Q4_1,
            8 => Encoding::Q8_0,
            other => bail!("tensors of type {other} are not supported"),
        };
        let (columns, rest) = sizes.split_first().context("a tensor has no dimensions")?;
        let offset = self.u64()?;
        Ok(Place { columns: *columns, rows: rest.iter().product(), encoding, offset })
    }
}
