//! What becomes of grammars of characters.
