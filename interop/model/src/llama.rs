//! The forward pass of a Llama model.

use anyhow::{Context, Result};

use crate::gguf::Header;
use crate::matrix::{Matrix, dot};

/// The weights of a model.
pub struct Model {
    embedding: Matrix,
    layers: Vec<Layer>,
    output_norm: Vec<f32>,
    heads: usize,
    shared_heads: usize,
    /// Number of elements of a head.
    head_size: usize,
    frequency_base: f32,
    epsilon: f32,
}

struct Layer {
    attention_norm: Vec<f32>,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    output: Matrix,
    feed_norm: Vec<f32>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

/// The keys and values of the positions so far, a pair of lists for each layer.
#[derive(Clone)]
pub struct Cache {
    layers: Vec<(Vec<f32>, Vec<f32>)>,
    width: usize,
    length: usize,
}

/// Tokens of one sequence for a call of the model.
pub struct Input<'a> {
    /// The memory of the positions before them.
    pub cache: &'a mut Cache,
    /// The tokens.
    pub tokens: &'a [u32],
    /// Number of the last tokens after which scores are wanted.
    pub rows: usize,
}

impl Cache {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Forgets the positions from `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        for (keys, values) in &mut self.layers {
            keys.truncate(self.length * self.width);
            values.truncate(self.length * self.width);
        }
    }
}

impl Model {
    /// Reads the weights of the model in `file`.
    pub fn read(header: &Header, file: &[u8]) -> Result<Self> {
        let number = |key: &str| header.number(&format!("llama.{key}"));
        let matrix = |name: &str| Matrix::read(header, file, &format!("{name}.weight"));
        let vector = |name: &str| -> Result<Vec<f32>> {
            let matrix = matrix(name)?;
            let mut vector = vec![0.0; matrix.columns];
            matrix.decode(0, &mut vector);
            Ok(vector)
        };
        let layer = |index: usize| -> Result<Layer> {
            let name = |part: &str| format!("blk.{index}.{part}");
            Ok(Layer {
                attention_norm: vector(&name("attn_norm"))?,
                query: matrix(&name("attn_q"))?,
                key: matrix(&name("attn_k"))?,
                value: matrix(&name("attn_v"))?,
                output: matrix(&name("attn_output"))?,
                feed_norm: vector(&name("ffn_norm"))?,
                gate: matrix(&name("ffn_gate"))?,
                up: matrix(&name("ffn_up"))?,
                down: matrix(&name("ffn_down"))?,
            })
        };
        let heads = number("attention.head_count")? as usize;
        let embedding = matrix("token_embd")?;
        Ok(Self {
            layers: (0..number("block_count")? as usize)
                .map(layer)
                .collect::<Result<_>>()
                .context("the file is not a Llama model")?,
            output_norm: vector("output_norm")?,
            heads,
            shared_heads: number("attention.head_count_kv")? as usize,
            head_size: embedding.columns / heads,
            frequency_base: number("rope.freq_base")? as f32,
            epsilon: number("attention.layer_norm_rms_epsilon")? as f32,
            embedding,
        })
    }

    /// Returns a cache without positions.
    pub fn cache(&self) -> Cache {
        let layers = self.layers.iter().map(|_| (Vec::new(), Vec::new())).collect();
        Cache { layers, width: self.shared_heads * self.head_size, length: 0 }
    }

    /// Number of scores in a row: the tokens of the vocabulary.
    pub fn width(&self) -> usize {
        self.embedding.rows
    }

    /// Appends the tokens of each input to its cache, and returns for each input the scores after
    /// its last tokens, one row after the other. Each row is the same whatever the other inputs.
    pub fn forward(&self, inputs: &mut [Input<'_>]) -> Vec<Vec<f32>> {
        let width = self.embedding.columns;
        let tokens: Vec<u32> = inputs.iter().flat_map(|input| input.tokens).copied().collect();
        let mut states = vec![0.0; tokens.len() * width];
        for (state, &token) in states.chunks_exact_mut(width).zip(&tokens) {
            self.embedding.decode(token as usize, state);
        }
        let angles = self.angles(inputs);
        for (index, layer) in self.layers.iter().enumerate() {
            let normal = self.normalize(&states, &layer.attention_norm);
            let mut queries = layer.query.multiply(&normal);
            let mut keys = layer.key.multiply(&normal);
            self.rotate(&mut queries, self.heads, &angles);
            self.rotate(&mut keys, self.shared_heads, &angles);
            let values = layer.value.multiply(&normal);
            let mixed = self.attend_all(index, inputs, &queries, &keys, &values);
            add(&mut states, &layer.output.multiply(&mixed));
            let normal = self.normalize(&states, &layer.feed_norm);
            let mut inner = layer.gate.multiply(&normal);
            for (gate, up) in inner.iter_mut().zip(layer.up.multiply(&normal)) {
                *gate *= up / (1.0 + (-*gate).exp());
            }
            add(&mut states, &layer.down.multiply(&inner));
        }
        let (mut last, mut end) = (Vec::new(), 0);
        for input in &mut *inputs {
            input.cache.length += input.tokens.len();
            end += input.tokens.len();
            last.extend_from_slice(&states[(end - input.rows) * width..end * width]);
        }
        let scores = self.embedding.multiply(&self.normalize(&last, &self.output_norm));
        let mut rest = &scores[..];
        let rows = inputs.iter().map(|input| {
            let (rows, after) = rest.split_at(input.rows * self.width());
            rest = after;
            rows.to_vec()
        });
        rows.collect()
    }

    /// Divides each vector by the root of its mean square, and multiplies it with `weights`.
    fn normalize(&self, states: &[f32], weights: &[f32]) -> Vec<f32> {
        let mut normal = states.to_vec();
        for state in normal.chunks_exact_mut(weights.len()) {
            let mean = dot(state, state) / weights.len() as f32;
            let scale = 1.0 / (mean + self.epsilon).sqrt();
            for (element, weight) in state.iter_mut().zip(weights) {
                *element *= scale * weight;
            }
        }
        normal
    }

    /// Returns the sine and cosine of each pair's angle at each token's position.
    fn angles(&self, inputs: &[Input<'_>]) -> Vec<(f32, f32)> {
        let pairs = self.head_size / 2;
        let frequency = |pair| self.frequency_base.powf(-(pair as f32) / pairs as f32);
        let frequencies: Vec<f32> = (0..pairs).map(frequency).collect();
        let positions = inputs.iter().flat_map(|input| {
            (input.cache.length..).take(input.tokens.len()).map(|position| position as f32)
        });
        let angles = positions.flat_map(|position| {
            frequencies.iter().map(move |frequency| (position * frequency).sin_cos())
        });
        angles.collect()
    }

    /// Rotates neighbouring pairs of each head by an angle that grows with the position (RoPE, in
    /// the order in which GGUF stores Llama's heads).
    fn rotate(&self, vectors: &mut [f32], heads: usize, angles: &[(f32, f32)]) {
        let of_positions = angles.chunks_exact(self.head_size / 2);
        let positions = vectors.chunks_exact_mut(heads * self.head_size).zip(of_positions);
        for (position, angles) in positions {
            for head in position.chunks_exact_mut(self.head_size) {
                for (pair, (sin, cos)) in head.chunks_exact_mut(2).zip(angles) {
                    let (real, imaginary) = (pair[0], pair[1]);
                    pair[0] = real * cos - imaginary * sin;
                    pair[1] = real * sin + imaginary * cos;
                }
            }
        }
    }

    /// Appends keys and values to the caches of a layer, and attends to each.
    fn attend_all(
        &self,
        layer: usize,
        inputs: &mut [Input<'_>],
        mut queries: &[f32],
        mut keys: &[f32],
        mut values: &[f32],
    ) -> Vec<f32> {
        let mut mixed = Vec::with_capacity(queries.len());
        for input in inputs {
            let (own, start) = (input.tokens.len() * input.cache.width, input.cache.length);
            let (own_queries, other) =
                queries.split_at(input.tokens.len() * self.heads * self.head_size);
            let (all_keys, all_values) = &mut input.cache.layers[layer];
            all_keys.extend_from_slice(&keys[..own]);
            all_values.extend_from_slice(&values[..own]);
            mixed.extend(self.attend(own_queries, all_keys, all_values, start));
            (queries, keys, values) = (other, &keys[own..], &values[own..]);
        }
        mixed
    }

    /// Returns, for each head of each query, the mean of the values up to its position, weighted by
    /// the softmax of the products with their keys.
    fn attend(&self, queries: &[f32], keys: &[f32], values: &[f32], start: usize) -> Vec<f32> {
        let (size, width) = (self.head_size, self.shared_heads * self.head_size);
        let scale = 1.0 / (size as f32).sqrt();
        let mut mixed = vec![0.0; queries.len()];
        let outputs = mixed.chunks_exact_mut(size).zip(queries.chunks_exact(size)).enumerate();
        for (index, (output, query)) in outputs {
            let (position, head) = (start + index / self.heads, index % self.heads);
            let offset = head / (self.heads / self.shared_heads) * size;
            let at = |place: usize| place * width + offset..place * width + offset + size;
            let mut weights: Vec<_> =
                (0..=position).map(|place| dot(query, &keys[at(place)]) * scale).collect();
            softmax(&mut weights);
            for (place, weight) in weights.iter().enumerate() {
                for (output, value) in output.iter_mut().zip(&values[at(place)]) {
                    *output = weight.mul_add(*value, *output);
                }
            }
        }
        mixed
    }
}

/// Replaces scores by their probabilities.
pub fn softmax(scores: &mut [f32]) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in &mut *scores {
        *score = (*score - greatest).exp();
        sum += *score;
    }
    for score in scores {
        *score /= sum;
    }
}

fn add(states: &mut [f32], changes: &[f32]) {
    for (state, change) in states.iter_mut().zip(changes) {
        *state += change;
    }
}
