/// Types of the library's packages that tests use by their plain names: a program that defines one of the same name hides
/// it where it is not imported by that name.
const TYPES: &[(&str, &str)] = &[
    (
        "java.lang",
        "Appendable ArithmeticException ArrayIndexOutOfBoundsException AssertionError Boolean Byte CharSequence Character \
         Class ClassCastException Comparable Double Enum Error Exception Float IllegalArgumentException \
         IllegalStateException IndexOutOfBoundsException Integer Iterable Long Math NullPointerException Number \
         NumberFormatException Object Record Runnable RuntimeException Short StackOverflowError StrictMath String \
         StringBuffer StringBuilder System Thread Throwable UnsupportedOperationException Void",
    ),
    (
        "java.util",
        "AbstractList AbstractMap AbstractSet ArrayDeque ArrayList Arrays Base64 BitSet Collection Collections Comparator \
         Currency Date Deque EnumMap EnumSet HashMap HashSet Iterator LinkedHashMap LinkedHashSet LinkedList List \
         ListIterator Locale Map NavigableMap NavigableSet NoSuchElementException Objects Optional OptionalDouble \
         OptionalInt OptionalLong PriorityQueue Queue Random Scanner Set SortedMap SortedSet Stack StringJoiner \
         StringTokenizer TreeMap TreeSet UUID Vector",
    ),
    (
        "java.util.function",
        "BiConsumer BiFunction BiPredicate BinaryOperator BooleanSupplier Consumer Function IntFunction IntPredicate \
         IntUnaryOperator Predicate Supplier ToIntFunction UnaryOperator",
    ),
    ("java.util.stream", "Collectors DoubleStream IntStream LongStream Stream StreamSupport"),
    ("java.math", "BigDecimal BigInteger MathContext RoundingMode"),
    ("java.text", "DecimalFormat NumberFormat SimpleDateFormat"),
    ("java.security", "MessageDigest NoSuchAlgorithmException"),
    ("java.nio.charset", "Charset StandardCharsets"),
];

/// The full name of a type that `name` means where `packages` (and java.lang) are imported as wholes.
pub(super) fn full_name(name: &str, packages: &[&str]) -> Option<String> {
    let visible = TYPES.iter().filter(|(package, _)| *package == "java.lang" || packages.contains(package));
    let mut holders = visible.filter(|(_, types)| types.split_ascii_whitespace().any(|known| known == name));
    holders.next().map(|(package, _)| format!("{package}.{name}"))
}

#[cfg(test)]
mod tests {
    use super::full_name;

    #[test]
    fn names_mean_what_is_imported() {
        assert_eq!(full_name("Math", &[]).as_deref(), Some("java.lang.Math"));
        assert_eq!(full_name("Objects", &["java.util"]).as_deref(), Some("java.util.Objects"));
        assert_eq!(full_name("Objects", &["java.io"]), None);
        assert_eq!(full_name("Solution", &["java.util"]), None);
    }
}
