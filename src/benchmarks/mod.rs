//! Problems from files: our own task format and public data sets, one file per format.
