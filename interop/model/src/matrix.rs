//! Matrices in the file's encoding, and their products with activations.

use anyhow::{Context, Result, ensure};

use crate::gguf::{Encoding, Header};

/// Number of partial sums of a dot product, which the compiler keeps in vector registers.
const LANES: usize = 32;

/// Number of vectors that are multiplied with a row at the same time.
const TOGETHER: usize = 4;

/// Number of elements in a block of the quantized encodings.
const BLOCK: usize = 32;

/// A matrix whose rows are decoded as they are used.
pub struct Matrix {
    bytes: Box<[u8]>,
    encoding: Encoding,
    /// Number of inputs.
    pub columns: usize,
    /// Number of outputs.
    pub rows: usize,
}

impl Matrix {
    /// Copies the tensor `name` of the file.
    pub fn read(header: &Header, file: &[u8], name: &str) -> Result<Self> {
        let place = header.tensors.get(name).with_context(|| format!("no tensor `{name}`"))?;
        ensure!(place.columns % LANES == 0, "`{name}` has {} columns", place.columns);
        let bytes = file[place.offset..place.offset + place.bytes()].into();
        Ok(Self { bytes, encoding: place.encoding, columns: place.columns, rows: place.rows })
    }

    /// Decodes row `row` into `out`, which has one element for each column.
    pub fn decode(&self, row: usize, out: &mut [f32]) {
        let (elements, size) = self.encoding.block();
        let length = self.columns / elements * size;
        let blocks = self.bytes[row * length..][..length].chunks_exact(size);
        for (block, out) in blocks.zip(out.chunks_exact_mut(elements)) {
            match self.encoding {
                Encoding::F32 => {
                    out[0] = f32::from_le_bytes([block[0], block[1], block[2], block[3]])
                }
                Encoding::Q4_1 => {
                    let (scale, least) = (half(&block[..2]), half(&block[2..4]));
                    let (low, high) = out.split_at_mut(BLOCK / 2);
                    for ((low, high), &pair) in low.iter_mut().zip(high).zip(&block[4..]) {
                        *low = f32::from(pair & 15).mul_add(scale, least);
                        *high = f32::from(pair >> 4).mul_add(scale, least);
                    }
                }
                Encoding::Q8_0 => {
                    let scale = half(&block[..2]);
                    for (out, &quantity) in out.iter_mut().zip(&block[2..]) {
                        *out = f32::from(quantity.cast_signed()) * scale;
                    }
                }
            }
        }
    }

    /// Multiplies the matrix with each vector of `inputs`, which lie one after the other. A row is
    /// decoded once for all of them. Each product is the same whatever the number of vectors.
    pub fn multiply(&self, inputs: &[f32]) -> Vec<f32> {
        let vectors: Vec<&[f32]> = inputs.chunks_exact(self.columns).collect();
        let mut outputs = vec![0.0; vectors.len() * self.rows];
        let mut decoded = vec![0.0; self.columns];
        for row in 0..self.rows {
            self.decode(row, &mut decoded);
            let mut put = |index: usize, product| outputs[index * self.rows + row] = product;
            let (groups, rest) = vectors.as_chunks::<TOGETHER>();
            for (group, vectors) in groups.iter().enumerate() {
                for (place, product) in dots(&decoded, *vectors).into_iter().enumerate() {
                    put(group * TOGETHER + place, product);
                }
            }
            for (place, vector) in rest.iter().enumerate() {
                put(groups.len() * TOGETHER + place, dot(&decoded, vector));
            }
        }
        outputs
    }
}

/// Returns the dot product of two vectors whose lengths are equal and a multiple of [`LANES`].
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    dots(left, [right])[0]
}

/// Returns the dot products of a vector with others.
fn dots<const N: usize>(left: &[f32], others: [&[f32]; N]) -> [f32; N] {
    let mut sums = [[0.0_f32; LANES]; N];
    let (left, _) = left.as_chunks::<LANES>();
    let others = others.map(|other| other.as_chunks::<LANES>().0);
    for (index, left) in left.iter().enumerate() {
        for (sums, other) in sums.iter_mut().zip(others) {
            for ((sum, left), right) in sums.iter_mut().zip(left).zip(&other[index]) {
                *sum = left.mul_add(*right, *sum);
            }
        }
    }
    sums.map(|sums| sums.iter().sum())
}

/// Decodes a 16-bit float. The file's scales are normal numbers or zero.
fn half(bytes: &[u8]) -> f32 {
    let bits = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    let (sign, rest) = ((bits & 0x8000) << 16, bits & 0x7fff);
    // The exponent's bias changes from 15 to 127; a product rescales subnormal numbers too.
    f32::from_bits(sign | rest << 13) * f32::from_bits((254 - 15) << 23)
}
