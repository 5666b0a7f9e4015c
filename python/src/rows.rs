//! Arrays of the caller's, by the buffer protocol or by a tensor's address.
//!
//! All `unsafe` of the package is here. An array is described once, checked, and its rows are
//! slices that live as long as the description, which holds the array. Other threads must not write
//! the same rows meanwhile, as with any array.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

/// The elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// An integer of 32 bits.
    Word,
    Byte,
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::Word | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Of a format of the buffer protocol.
    fn of_format(format: &str, size: usize) -> Option<Self> {
        match (format.trim_start_matches(['@', '=', '<']), size) {
            ("i" | "I" | "l" | "L", 4) => Some(Self::Word),
            ("b" | "B" | "c", 1) => Some(Self::Byte),
            ("e", 2) => Some(Self::F16),
            ("f", 4) => Some(Self::F32),
            ("d", 8) => Some(Self::F64),
            _ => None,
        }
    }

    /// Of a tensor's type, as it prints: `torch.int32`.
    fn of_dtype(dtype: &str) -> Option<Self> {
        match dtype {
            "torch.int32" | "torch.uint32" => Some(Self::Word),
            "torch.float16" => Some(Self::F16),
            "torch.bfloat16" => Some(Self::Bf16),
            "torch.float32" => Some(Self::F32),
            "torch.float64" => Some(Self::F64),
            _ => None,
        }
    }
}

/// An array of one or two dimensions that may be written.
pub(crate) struct Rows {
    start: *mut u8,
    pub(crate) element: Element,
    pub(crate) count: usize,
    /// Elements of a row.
    pub(crate) length: usize,
    /// Elements from one row to the next.
    pub(crate) stride: usize,
    /// Keeps the array.
    _owner: Option<PyUntypedBuffer>,
}

// SAFETY: the address is used only while the array is held, and the caller answers for what other
// threads do to it.
unsafe impl Send for Rows {}
// SAFETY: as above.
unsafe impl Sync for Rows {}

impl Rows {
    /// Describes an array: anything with the buffer protocol (NumPy's), or a tensor in memory of
    /// the processor.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        // SAFETY: it only looks at the object's type.
        if unsafe { pyo3::ffi::PyObject_CheckBuffer(array.as_ptr()) } != 0 {
            return Self::of_buffer(PyUntypedBuffer::get(array)?);
        }
        match array.getattr_opt(intern!(array.py(), "data_ptr"))? {
            Some(address) => Self::of_tensor(array, &address),
            None => Err(PyTypeError::new_err(format!(
                "{} is not an array that can be written",
                array.get_type().name()?
            ))),
        }
    }

    fn of_buffer(buffer: PyUntypedBuffer) -> PyResult<Self> {
        if buffer.readonly() {
            return Err(PyValueError::new_err("the array is read-only; give a copy of it"));
        }
        let size = buffer.item_size();
        let format = buffer.format().to_str().unwrap_or_default();
        let element = Element::of_format(format, size).ok_or_else(|| {
            PyTypeError::new_err(format!("elements of the format {format:?} cannot be used"))
        })?;
        let shape = buffer.shape();
        let strides: Vec<usize> = buffer
            .strides()
            .iter()
            .map(|&stride| usize::try_from(stride).map_or(usize::MAX, |stride| stride / size))
            .collect();
        let (count, length, stride) = dimensions(shape, &strides)?;
        let start = buffer.buf_ptr().cast::<u8>();
        Self { start, element, count, length, stride, _owner: Some(buffer) }.aligned()
    }

    fn of_tensor(tensor: &Bound<'_, PyAny>, address: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = tensor.py();
        if !tensor.getattr(intern!(py, "is_cpu"))?.is_truthy()? {
            return Err(PyValueError::new_err(
                "the tensor is not in the processor's memory; fill one there and copy it",
            ));
        }
        let dtype = tensor.getattr(intern!(py, "dtype"))?.str()?;
        let element = Element::of_dtype(dtype.to_str()?).ok_or_else(|| {
            PyTypeError::new_err(format!("elements of the type {dtype} cannot be used"))
        })?;
        let shape: Vec<usize> = tensor.getattr(intern!(py, "shape"))?.extract()?;
        let strides: Vec<usize> = tensor.call_method0(intern!(py, "stride"))?.extract()?;
        let (count, length, stride) = dimensions(&shape, &strides)?;
        let start = address.call0()?.extract::<usize>()? as *mut u8;
        // The caller holds the tensor during the call.
        Self { start, element, count, length, stride, _owner: None }.aligned()
    }

    /// Describes a row of 32-bit words at an address.
    pub(crate) fn at(address: usize, words: usize) -> PyResult<Self> {
        let start = address as *mut u8;
        if start.is_null() {
            return Err(PyValueError::new_err("the address is zero"));
        }
        let element = Element::Word;
        Self { start, element, count: 1, length: words, stride: words, _owner: None }.aligned()
    }

    fn aligned(self) -> PyResult<Self> {
        let size = if self.element == Element::Byte { 4 } else { self.element.bytes() };
        match (self.start as usize).is_multiple_of(size) {
            true => Ok(self),
            false => Err(PyValueError::new_err("the array is not aligned to its elements")),
        }
    }

    /// Returns the array as masks: rows of 32-bit words.
    pub(crate) fn masks(self) -> PyResult<Self> {
        match self.element {
            Element::Word => Ok(self),
            Element::Byte if self.stride.is_multiple_of(4) || self.count <= 1 => Ok(Self {
                element: Element::Word,
                length: self.length / 4,
                stride: self.stride / 4,
                ..self
            }),
            _ => Err(PyTypeError::new_err(
                "masks are rows of 32-bit integers: allocate them as int32",
            )),
        }
    }

    /// Returns the rows from `first` on as one slice of words, each of [`Rows::length`].
    pub(crate) fn words_from(&mut self, first: usize) -> PyResult<&mut [u32]> {
        self.check(first)?;
        if self.count > 1 && self.stride != self.length {
            return Err(PyValueError::new_err(
                "the rows are parts of longer ones; give an array whose rows follow one another",
            ));
        }
        Ok(self.slice(first, (self.count - first) * self.length))
    }

    /// Returns a row of words.
    pub(crate) fn words(&mut self, row: usize) -> PyResult<&mut [u32]> {
        self.check(row)?;
        Ok(self.slice(row, self.length))
    }

    fn slice(&mut self, row: usize, words: usize) -> &mut [u32] {
        debug_assert!(self.element == Element::Word && row < self.count);
        // SAFETY: the words lie within the array, which is held, aligned and writable.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.cast::<u32>().add(row * self.stride), words)
        }
    }

    /// Sets the elements of a row whose bit in `mask` is not set, and those past the mask, to
    /// negative infinity.
    pub(crate) fn reject(&mut self, row: usize, mask: &[u32]) -> PyResult<()> {
        self.check(row)?;
        match self.element {
            Element::F16 => self.reject_as(row, mask, 0xfc00_u16),
            Element::Bf16 => self.reject_as(row, mask, 0xff80_u16),
            Element::F32 => self.reject_as(row, mask, f32::NEG_INFINITY),
            Element::F64 => self.reject_as(row, mask, f64::NEG_INFINITY),
            Element::Word | Element::Byte => {
                return Err(PyTypeError::new_err("logits are floating-point numbers"));
            }
        }
        Ok(())
    }

    fn reject_as<T: Copy>(&mut self, row: usize, mask: &[u32], lowest: T) {
        debug_assert_eq!(size_of::<T>(), self.element.bytes());
        // SAFETY: the row lies within the array, which is held, aligned and writable.
        let row = unsafe {
            let start = self.start.cast::<T>().add(row * self.stride);
            std::slice::from_raw_parts_mut(start, self.length)
        };
        let words = mask.iter().copied().chain(std::iter::repeat(0));
        for (elements, word) in row.chunks_mut(32).zip(words) {
            if word == u32::MAX {
                continue;
            }
            for (bit, element) in elements.iter_mut().enumerate() {
                if word >> bit & 1 == 0 {
                    *element = lowest;
                }
            }
        }
    }

    /// Returns a copy of all elements, which are floats of 32 bits, row after row.
    pub(crate) fn floats(self) -> PyResult<Vec<f32>> {
        if self.element != Element::F32 {
            return Err(PyTypeError::new_err("scores are floats of 32 bits"));
        }
        let mut all = Vec::with_capacity(self.count * self.length);
        for row in 0..self.count {
            // SAFETY: the row lies within the array, which is held and aligned.
            all.extend_from_slice(unsafe {
                let start = self.start.cast::<f32>().add(row * self.stride);
                std::slice::from_raw_parts(start, self.length)
            });
        }
        Ok(all)
    }

    pub(crate) fn check(&self, row: usize) -> PyResult<()> {
        if row < self.count {
            return Ok(());
        }
        Err(PyIndexError::new_err(format!("there is no row {row} among {}", self.count)))
    }
}

/// Returns the rows, the elements of a row, and those from one row to the next.
fn dimensions(shape: &[usize], strides: &[usize]) -> PyResult<(usize, usize, usize)> {
    let found = match (shape, strides) {
        (&[length], &[step]) if step == 1 || length <= 1 => Some((1, length, length)),
        (&[count, length], &[stride, step])
            if (step == 1 || length <= 1) && (stride >= length || count <= 1) =>
        {
            Some((count, length, stride.max(length)))
        }
        _ => None,
    };
    // An address of elements that far apart would be past any array.
    found.filter(|&(count, _, stride)| count.checked_mul(stride).is_some()).ok_or_else(|| {
        PyValueError::new_err(format!(
            "an array of the shape {shape:?} with the strides {strides:?} cannot be used: give one \
             row, or a list of rows whose elements follow one another"
        ))
    })
}
