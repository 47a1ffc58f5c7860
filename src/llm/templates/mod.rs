//! The built-in offline model: template-based repair of Python programs by edits of the syntax tree.
