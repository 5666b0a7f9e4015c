//! Small vocabularies that together cover every kind of error in a mask.

/// A vocabulary as plain data.
#[derive(Clone, Debug)]
pub struct SmallVocabulary {
    pub name: &'static str,
    /// The bytes of each id; empty for a gap. Special ids have bytes too, which must never count.
    pub tokens: Vec<Vec<u8>>,
    pub special: Vec<u32>,
    /// The special ids that end the text.
    pub stops: Vec<u32>,
    /// Number of ids in a mask, including padding.
    pub width: usize,
    /// Whether every byte of the alphabet is a token: then no text is unspellable.
    pub spells_all: bool,
}

impl SmallVocabulary {
    fn new(name: &'static str, tokens: Vec<Vec<u8>>) -> Self {
        let width = tokens.len();
        Self { name, tokens, special: Vec::new(), stops: Vec::new(), width, spells_all: true }
    }

    /// Appends the one stop token.
    fn with_stop(mut self) -> Self {
        let id = self.tokens.len() as u32;
        self.tokens.push(b"<end>".to_vec());
        self.special.push(id);
        self.stops.push(id);
        self.width = self.tokens.len();
        self
    }

    /// Returns the bytes that an id adds to the text, if it may ever be allowed as an ordinary
    /// token.
    pub fn bytes(&self, id: usize) -> Option<&[u8]> {
        let bytes = self.tokens.get(id)?;
        (!bytes.is_empty() && !self.special.contains(&(id as u32))).then_some(bytes)
    }

    pub fn is_stop(&self, id: usize) -> bool {
        self.stops.contains(&(id as u32))
    }
}

/// Returns all 256 bytes, and one stop token.
pub fn bytes() -> SmallVocabulary {
    SmallVocabulary::new("bytes", (0..=255).map(|byte| vec![byte]).collect()).with_stop()
}

/// Returns all strings over `alphabet` up to `length`: tokens that span and split everything.
pub fn strings(alphabet: &[u8], length: usize) -> SmallVocabulary {
    let mut tokens = Vec::new();
    let mut layer = vec![Vec::new()];
    for _ in 0..length {
        layer = layer
            .iter()
            .flat_map(|text: &Vec<u8>| {
                alphabet.iter().map(move |&byte| [text.as_slice(), &[byte]].concat())
            })
            .collect();
        tokens.extend(layer.iter().cloned());
    }
    SmallVocabulary::new("strings", tokens).with_stop()
}

/// Returns ids in no order: each token twice, gaps, special tokens with the bytes of ordinary ones,
/// two stop tokens in the middle, padding at the end.
pub fn ragged(alphabet: &[u8], longer: &[Vec<u8>]) -> SmallVocabulary {
    let mut tokens = vec![Vec::new(), vec![alphabet[0]]];
    for token in longer.iter().rev() {
        tokens.push(token.clone());
        tokens.push(Vec::new());
    }
    let first_stop = tokens.len() as u32;
    tokens.push(vec![alphabet[alphabet.len() - 1]]);
    tokens.extend(alphabet.iter().map(|&byte| vec![byte]));
    let second_stop = tokens.len() as u32;
    tokens.push(b"</s>".to_vec());
    tokens.extend(alphabet.iter().rev().map(|&byte| vec![byte]));
    tokens.extend(longer.iter().cloned());
    tokens.push(Vec::new());
    let mut vocabulary = SmallVocabulary::new("ragged", tokens);
    vocabulary.special = vec![1, first_stop, second_stop];
    vocabulary.stops = vec![second_stop, first_stop];
    vocabulary.width += 37;
    vocabulary
}

/// Returns the case's own tokens, without single bytes to fall back on.
pub fn sparse(tokens: &[Vec<u8>]) -> SmallVocabulary {
    let mut vocabulary = SmallVocabulary::new("sparse", tokens.to_vec()).with_stop();
    vocabulary.spells_all = false;
    vocabulary
}
