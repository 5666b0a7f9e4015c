//! The reader's tests.
