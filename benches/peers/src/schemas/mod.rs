//! JSON Schemas: from many schemas to their first masks, and masks along their instances.
//!
//! Each engine follows all schemas in one process, as a server does that meets one after another:
//! what it prepares for a vocabulary is shared, what it learns of a schema is not.

pub mod figures;
pub mod measure;
pub mod page;
pub mod run;
pub mod sample;
