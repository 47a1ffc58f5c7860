//! See the module of this name in the library.
