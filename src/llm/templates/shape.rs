//! What kind of value an expression can have: as coarse as is needed to leave hopeless replacements out.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    kind::{Field, Kind},
    syntax::{NodeId, Syntax},
};

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape(u16);

impl Shape {
    pub(super) const NUMBER: Self = Self(1);
    pub(super) const TEXT: Self = Self(2);
    pub(super) const LIST: Self = Self(4);
    pub(super) const TUPLE: Self = Self(8);
    pub(super) const SET: Self = Self(16);
    pub(super) const DICT: Self = Self(32);
    pub(super) const NONE: Self = Self(64);
    pub(super) const OTHER: Self = Self(128);
    pub(super) const TRUTH: Self = Self(256);
    /// Nothing is known.
    pub(super) const ANY: Self = Self(511);

    const CONTAINERS: Self = Self(4 | 8 | 16 | 32);

    /// The kind of a Python type's name (`list[int]` counts as `list`).
    fn of_type(name: &str) -> Self {
        match name.split('[').next().unwrap_or(name).trim() {
            "int" | "float" | "complex" | "Fraction" | "Decimal" => Self::NUMBER,
            "bool" => Self::TRUTH,
            "str" | "bytes" => Self::TEXT,
            "list" | "deque" => Self::LIST,
            "tuple" => Self::TUPLE,
            "set" | "frozenset" => Self::SET,
            "dict" | "defaultdict" | "Counter" | "OrderedDict" => Self::DICT,
            "NoneType" | "None" => Self::NONE,
            _ => Self::OTHER,
        }
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a value can be both.
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether nothing is known.
    pub(super) fn is_any(self) -> bool {
        self == Self::ANY
    }

    /// Whether it is known to be of these kinds only.
    pub(super) fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether it may be a number (truth values count).
    pub(super) fn numeric(self) -> bool {
        self.meets(Self::NUMBER.or(Self::TRUTH))
    }

    /// Whether it may be something with a length and elements.
    pub(super) fn sized(self) -> bool {
        self.meets(Self::CONTAINERS.or(Self::TEXT))
    }

    /// Whether it may be indexed by numbers.
    pub(super) fn sequence(self) -> bool {
        self.meets(Self::LIST.or(Self::TUPLE).or(Self::TEXT))
    }

    /// Whether one may stand for the other: some kind in common, all containers counting as one, and so all numbers.
    pub(super) fn fits(self, other: Self) -> bool {
        let widen = |shape: Self| {
            let mut wide = shape;
            if shape.meets(Self::CONTAINERS) {
                wide = wide.or(Self::CONTAINERS);
            }
            if shape.numeric() {
                wide = wide.or(Self::NUMBER);
            }
            if shape.meets(Self::NONE) { Self::ANY } else { wide }
        };
        widen(self).meets(widen(other))
    }
}

/// Types of variables as a run showed them, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Types {
    whole: BTreeMap<String, Shape>,
    element: BTreeMap<String, Shape>,
}

impl Types {
    /// From a profile's type names.
    pub(super) fn new(types: &BTreeMap<String, BTreeSet<String>>) -> Self {
        let mut result = Self::default();
        for (name, seen) in types {
            let whole = seen.iter().map(|name| Shape::of_type(name)).reduce(Shape::or);
            if let Some(whole) = whole {
                result.whole.insert(name.clone(), whole);
            }
            let element = seen.iter().filter_map(|name| element_names(name)).flatten().reduce(Shape::or);
            if let Some(element) = element {
                result.element.insert(name.clone(), element);
            }
        }
        result
    }

    /// What a variable was seen to hold.
    pub(super) fn of(&self, name: &str) -> Shape {
        self.whole.get(name).copied().unwrap_or(Shape::ANY)
    }

    /// What the elements of a variable were seen to be (the values of a dictionary).
    fn element_of(&self, name: &str) -> Shape {
        self.element.get(name).copied().unwrap_or(Shape::ANY)
    }

    /// What an expression can be.
    pub(super) fn shape(&self, syntax: &Syntax, id: NodeId) -> Shape {
        self.shape_within(syntax, id, 8)
    }

    fn shape_within(&self, syntax: &Syntax, id: NodeId, depth: u8) -> Shape {
        let Some(depth) = depth.checked_sub(1) else { return Shape::ANY };
        let below = |id: Option<NodeId>| id.map_or(Shape::ANY, |id| self.shape_within(syntax, id, depth));
        match syntax.kind(id) {
            Kind::Integer | Kind::Float | Kind::Unary => Shape::NUMBER,
            Kind::Str | Kind::ConcatenatedString => Shape::TEXT,
            Kind::True | Kind::False | Kind::Comparison | Kind::Not => Shape::TRUTH,
            Kind::None => Shape::NONE,
            Kind::List | Kind::ListComprehension => Shape::LIST,
            Kind::Tuple | Kind::ExpressionList => Shape::TUPLE,
            Kind::Set | Kind::SetComprehension => Shape::SET,
            Kind::Dictionary | Kind::DictionaryComprehension => Shape::DICT,
            Kind::Generator | Kind::Lambda => Shape::OTHER,
            Kind::Identifier => self.of(syntax.text(id)),
            Kind::Parenthesized => below(syntax.children(id).first().copied()),
            Kind::Conditional => {
                let parts = syntax.children(id);
                below(parts.first().copied()).or(below(parts.last().copied()))
            }
            Kind::Boolean => below(syntax.child(id, Field::Left)).or(below(syntax.child(id, Field::Right))),
            Kind::Binary => {
                let operator = syntax.operator(id).map_or("", |operator| syntax.text(operator));
                let (left, right) = (below(syntax.child(id, Field::Left)), below(syntax.child(id, Field::Right)));
                match operator {
                    "-" | "/" | "//" | "**" | "<<" | ">>" if left.within(Shape::NUMBER.or(Shape::TRUTH)) => {
                        Shape::NUMBER
                    }
                    "/" | "//" | "**" | "<<" | ">>" => Shape::NUMBER,
                    "+" | "-" | "|" | "&" | "^" if left.is_any() => right,
                    "*" if left.numeric() && !left.is_any() => right,
                    "%" if left.is_any() => Shape::ANY,
                    _ => left,
                }
            }
            Kind::Subscript => match (syntax.child(id, Field::Value), syntax.child(id, Field::Subscript)) {
                (Some(value), Some(index)) if syntax.kind(index) == Kind::Slice => below(Some(value)),
                (Some(value), Some(_)) if syntax.kind(value) == Kind::Identifier => {
                    let whole = self.of(syntax.text(value));
                    if whole == Shape::TEXT { whole } else { self.element_of(syntax.text(value)) }
                }
                _ => Shape::ANY,
            },
            Kind::Call => call_shape(syntax, id),
            _ => Shape::ANY,
        }
    }
}

/// What a call of a built-in function or method gives.
fn call_shape(syntax: &Syntax, id: NodeId) -> Shape {
    let Some((function, _)) = syntax.call(id) else { return Shape::ANY };
    match syntax.kind(function) {
        Kind::Identifier => match syntax.text(function) {
            "len" | "ord" | "int" | "float" | "hash" => Shape::NUMBER,
            "str" | "chr" | "repr" | "bin" | "hex" | "input" => Shape::TEXT,
            "list" | "sorted" => Shape::LIST,
            "tuple" => Shape::TUPLE,
            "set" | "frozenset" => Shape::SET,
            "dict" => Shape::DICT,
            "bool" | "any" | "all" | "isinstance" => Shape::TRUTH,
            "range" | "enumerate" | "zip" | "map" | "filter" | "reversed" | "iter" => Shape::OTHER,
            _ => Shape::ANY,
        },
        Kind::Attribute => match syntax.child(function, Field::Attribute).map_or("", |name| syntax.text(name)) {
            "lower" | "upper" | "strip" | "lstrip" | "rstrip" | "join" | "title" | "swapcase" | "format"
            | "capitalize" | "zfill" => Shape::TEXT,
            "split" | "splitlines" => Shape::LIST,
            "count" | "find" | "rfind" | "index" | "bit_length" => Shape::NUMBER,
            "startswith" | "endswith" | "isdigit" | "isalpha" | "isalnum" | "islower" | "isupper" | "isspace" => {
                Shape::TRUTH
            }
            "append" | "extend" | "add" | "insert" | "sort" | "reverse" | "update" | "remove" => Shape::NONE,
            _ => Shape::ANY,
        },
        _ => Shape::ANY,
    }
}

/// The kinds of the elements named in the brackets of a type's name; of a dictionary those of its values.
fn element_names(name: &str) -> Option<Vec<Shape>> {
    let (outer, rest) = name.split_once('[')?;
    let inner = rest.strip_suffix(']')?;
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut from = 0;
    for (at, c) in inner.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' | '|' if depth == 0 => {
                parts.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[from..]);
    let skip = usize::from(Shape::of_type(outer) == Shape::DICT && parts.len() > 1);
    Some(parts[skip..].iter().filter(|part| !part.trim().is_empty()).map(|part| Shape::of_type(part)).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{Shape, Types};
    use crate::llm::templates::{kind::Kind, syntax::Syntax};

    fn types(pairs: &[(&str, &str)]) -> Types {
        let mut map: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, of) in pairs {
            map.entry((*name).to_owned()).or_default().insert((*of).to_owned());
        }
        Types::new(&map)
    }

    #[test]
    fn shapes_follow_types_of_variables_and_elements() {
        let types = types(&[("xs", "list[int]"), ("d", "dict[str, list[int]]"), ("s", "str"), ("n", "int")]);
        let shape = |text: &str| {
            let syntax = Syntax::parse(text).unwrap();
            let id = syntax.ids().find(|id| syntax.parent_kind(*id) == Kind::ExpressionStatement).unwrap();
            types.shape(&syntax, id)
        };
        assert_eq!(shape("xs[0] + n"), Shape::NUMBER);
        assert_eq!(shape("xs[1:]"), Shape::LIST);
        assert_eq!(shape("d[s]"), Shape::LIST);
        assert_eq!(shape("s[0]"), Shape::TEXT);
        assert_eq!(shape("unknown"), Shape::ANY);
        assert!(!Shape::NUMBER.fits(Shape::TEXT));
        assert!(Shape::LIST.fits(Shape::SET));
        assert!(Shape::NONE.fits(Shape::TEXT));
    }
}
