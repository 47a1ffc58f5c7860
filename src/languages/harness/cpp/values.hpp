// Values that tests compare: whether their types are the language's, their text, and another value of the same type.
namespace rolecall_SUFFIX {

// Classes that the tests or the support code define.
template <class T> struct own : std::false_type {};

// Whether equality of a type is the language's own, so that it proves something.
template <class T, class = void> struct plain : own<T> {};
template <class T> struct plain<T, std::enable_if_t<std::is_scalar_v<T> && !std::is_member_pointer_v<T>>> : std::true_type {};
// The same inside of something else: an enumeration there is compared by operators that the program may define.
template <class T> struct part : std::conjunction<plain<T>, std::disjunction<own<T>, std::negation<std::is_enum<T>>>> {};
template <class T> struct plain<const T> : plain<T> {};
template <class T> struct plain<volatile T> : plain<T> {};
template <class T, std::size_t N> struct plain<T[N]> : part<T> {};
template <class T, std::size_t N> struct plain<const T[N]> : part<T> {};
template <class T, std::size_t N> struct plain<std::array<T, N>> : part<T> {};
template <std::size_t N> struct plain<std::bitset<N>> : std::true_type {};
template <> struct plain<std::vector<bool>::reference> : std::true_type {};
template <> struct plain<std::monostate> : std::true_type {};
template <> struct plain<std::nullopt_t> : std::true_type {};
template <class C, class T, class A> struct plain<std::basic_string<C, T, A>> : part<C> {};
template <class C, class T> struct plain<std::basic_string_view<C, T>> : part<C> {};
template <class T> struct plain<std::complex<T>> : part<T> {};
template <class T, class A> struct plain<std::vector<T, A>> : part<T> {};
template <class T, class A> struct plain<std::deque<T, A>> : part<T> {};
template <class T, class A> struct plain<std::list<T, A>> : part<T> {};
template <class T, class A> struct plain<std::forward_list<T, A>> : part<T> {};
template <class T, class S> struct plain<std::stack<T, S>> : part<S> {};
template <class T, class S> struct plain<std::queue<T, S>> : part<S> {};
template <class T, class C, class A> struct plain<std::set<T, C, A>> : part<T> {};
template <class T, class C, class A> struct plain<std::multiset<T, C, A>> : part<T> {};
template <class T, class H, class E, class A> struct plain<std::unordered_set<T, H, E, A>> : std::conjunction<part<T>, std::is_same<E, std::equal_to<T>>> {};
template <class T, class H, class E, class A> struct plain<std::unordered_multiset<T, H, E, A>> : std::conjunction<part<T>, std::is_same<E, std::equal_to<T>>> {};
template <class K, class V, class C, class A> struct plain<std::map<K, V, C, A>> : std::conjunction<part<K>, part<V>> {};
template <class K, class V, class C, class A> struct plain<std::multimap<K, V, C, A>> : std::conjunction<part<K>, part<V>> {};
template <class K, class V, class H, class E, class A> struct plain<std::unordered_map<K, V, H, E, A>> : std::conjunction<part<K>, part<V>, std::is_same<E, std::equal_to<K>>> {};
template <class K, class V, class H, class E, class A> struct plain<std::unordered_multimap<K, V, H, E, A>> : std::conjunction<part<K>, part<V>, std::is_same<E, std::equal_to<K>>> {};
template <class A, class B> struct plain<std::pair<A, B>> : std::conjunction<part<A>, part<B>> {};
template <class... T> struct plain<std::tuple<T...>> : std::conjunction<part<T>...> {};
template <class... T> struct plain<std::variant<T...>> : std::conjunction<part<T>...> {};
template <class T> struct plain<std::optional<T>> : part<T> {};
template <class T> struct plain<std::shared_ptr<T>> : std::true_type {};
template <class T, class D> struct plain<std::unique_ptr<T, D>> : std::is_same<D, std::default_delete<T>> {};
template <class I, class C> struct plain<__gnu_cxx::__normal_iterator<I, C>> : part<C> {};

template <template <class...> class Template, class T> struct made_of : std::false_type {};
template <template <class...> class Template, class... T> struct made_of<Template, Template<T...>> : std::true_type {};

template <class T, class = void> struct ranged : std::false_type {};
template <class T>
struct ranged<T, std::void_t<decltype(std::declval<const T&>().begin() != std::declval<const T&>().end())>> : std::true_type {};
template <class T, class = void> struct backed : std::false_type {};
template <class T>
struct backed<T, std::void_t<decltype(std::declval<T&>().push_back(std::declval<T&>().back()))>> : std::true_type {};
template <class T, class = void> struct inserted : std::false_type {};
template <class T>
struct inserted<T, std::void_t<decltype(std::declval<T&>().insert(std::declval<typename T::value_type>()))>> : std::true_type {};

inline void show_letter(std::string& text, char letter, char quote) {
    if (letter == quote || letter == '\\') text += '\\', text += letter;
    else if (letter == '\n') text += "\\n";
    else if (letter == '\t') text += "\\t";
    else if (letter == '\r') text += "\\r";
    else if (static_cast<unsigned char>(letter) < 32 || letter == 127) {
        char code[8];
        std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(letter));
        text += code;
    } else text += letter;
}

inline void show_quoted(std::string& text, std::string_view value) {
    text += '"';
    for (char letter : value) {
        if (text.size() > MAX_TEXT) return;
        show_letter(text, letter, '"');
    }
    text += '"';
}

// The shortest text that reads back as the same number.
template <class T> void show_float(std::string& text, T value) {
    char digits[64];
    for (int precision = 1; precision <= std::numeric_limits<T>::max_digits10; precision++) {
        std::snprintf(digits, sizeof digits, "%.*Lg", precision, static_cast<long double>(value));
        if (static_cast<T>(std::strtold(digits, nullptr)) == value) break;
    }
    text += digits;
    if (std::string_view(digits).find_first_not_of("-0123456789") == std::string_view::npos) text += ".0";
}

template <class T> void show(std::string& text, const T& value) {
    if (text.size() > MAX_TEXT) return;
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::vector<bool>::reference>) text += value ? "true" : "false";
    else if constexpr (std::is_same_v<T, char>) text += '\'', show_letter(text, value, '\''), text += '\'';
    else if constexpr (std::is_floating_point_v<T>) show_float(text, value);
    else if constexpr (std::is_enum_v<T>) show(text, static_cast<std::underlying_type_t<T>>(value));
    else if constexpr (std::is_integral_v<T>) text += std::to_string(value);
    else if constexpr (std::is_null_pointer_v<T>) text += "nullptr";
    else if constexpr (std::is_array_v<T> && std::is_convertible_v<const T&, const char*>) show_quoted(text, {value, strnlen(value, sizeof value)});
    else if constexpr (std::is_pointer_v<T>) text += value ? "a pointer" : "nullptr";
    else if constexpr (made_of<std::basic_string, T>::value && std::is_convertible_v<const T&, std::string_view>) show_quoted(text, value);
    else if constexpr (std::is_same_v<T, std::string_view>) show_quoted(text, value);
    else if constexpr (made_of<std::pair, T>::value) text += '(', show(text, value.first), text += ", ", show(text, value.second), text += ')';
    else if constexpr (made_of<std::tuple, T>::value) {
        text += '(';
        const char* between = "";
        std::apply([&](const auto&... each) { ((text += between, between = ", ", show(text, each)), ...); }, value);
        text += ')';
    } else if constexpr (made_of<std::optional, T>::value) {
        if (value) show(text, *value);
        else text += "nullopt";
    } else if constexpr (ranged<T>::value && plain<T>::value) {
        text += '{';
        bool first = true;
        for (const auto& each : value) {
            if (text.size() > MAX_TEXT) return;
            if (!first) text += ", ";
            first = false;
            show(text, each);
        }
        text += '}';
    } else text += '?';
}

template <class T> std::string shown(const T& value) {
    std::string text;
    try {
        show(text, value);
    } catch (...) {
        return "";
    }
    if (text == "?") return "";
    if (text.size() > MAX_TEXT) {
        std::size_t cut = MAX_TEXT;
        while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) cut--;
        text.replace(cut, std::string::npos, "...");
    }
    return text;
}

struct unknown {};

// Another value of the same type, `std::optional`; `unknown` where there is no telling.
template <class T> auto changed(const T& value) {
    if constexpr (std::is_same_v<T, bool>) return std::optional<bool>(!value);
    else if constexpr (std::is_same_v<T, std::vector<bool>::reference>) return std::optional<bool>(!value);
    else if constexpr (std::is_integral_v<T>) return std::optional<T>(value == std::numeric_limits<T>::max() ? static_cast<T>(value - 1) : static_cast<T>(value + 1));
    else if constexpr (std::is_floating_point_v<T>) {
        T next = value + 1;
        return std::optional<T>(next == value || next != next ? (value == value ? -value : T(0)) : next);
    } else if constexpr (std::is_array_v<T> && std::is_convertible_v<const T&, const char*>) return changed(std::string(value));
    else if constexpr (std::is_same_v<T, std::string>) {
        std::string other = value;
        if (other.empty()) other = "x";
        else other.back() = other.back() == 'x' ? 'y' : 'x';
        return std::optional<std::string>(other);
    } else if constexpr (!std::is_copy_constructible_v<T>) return unknown();
    else if constexpr (made_of<std::pair, T>::value) {
        auto other = changed(value.first);
        if constexpr (std::is_same_v<decltype(other), unknown>) return unknown();
        else return other ? std::optional<T>(T(*other, value.second)) : std::optional<T>();
    } else if constexpr (made_of<std::optional, T>::value) {
        if constexpr (!std::is_default_constructible_v<typename T::value_type>) return unknown();
        else return std::optional<T>(value ? T() : T(typename T::value_type()));
    } else if constexpr (!ranged<T>::value || !plain<T>::value) return unknown();
    else if constexpr (!std::is_default_constructible_v<typename T::value_type>) return unknown();
    else if constexpr (backed<T>::value) {
        T copy(value);
        typename T::value_type last{};
        if (!copy.empty()) {
            last = copy.back();
            copy.pop_back();
            auto other = changed(last);
            if constexpr (!std::is_same_v<decltype(other), unknown>)
                if (other) copy.push_back(*other);
        } else copy.push_back(last);
        return std::optional<T>(copy);
    } else if constexpr (inserted<T>::value) {
        T copy(value);
        if (copy.empty()) copy.insert(typename T::value_type());
        else copy.erase(copy.begin());
        return std::optional<T>(copy);
    } else return unknown();
}

// A text as its letters and their number, without functions of the C library, which a program may replace.
inline std::pair<const char*, std::size_t> letters(const char* text) {
    std::size_t length = 0;
    while (text[length]) length++;
    return {text, length};
}
inline std::pair<const char*, std::size_t> letters(const std::string& text) { return {text.data(), text.size()}; }
inline std::pair<const char*, std::size_t> letters(std::string_view text) { return {text.data(), text.size()}; }
template <class T> struct is_text : std::disjunction<std::is_same<T, std::string>, std::is_same<T, std::string_view>> {};
template <class T> struct like_text : std::disjunction<is_text<T>, std::is_convertible<const T&, const char*>> {};

template <class T, class = void> struct ordered : std::false_type {};
template <class T>
struct ordered<T, std::void_t<typename T::const_iterator, typename T::value_type>> : std::conjunction<ranged<T>, std::negation<is_text<T>>, std::negation<own<T>>> {};
template <class T, class H, class E, class A> struct ordered<std::unordered_set<T, H, E, A>> : std::false_type {};
template <class T, class H, class E, class A> struct ordered<std::unordered_multiset<T, H, E, A>> : std::false_type {};
template <class K, class V, class H, class E, class A> struct ordered<std::unordered_map<K, V, H, E, A>> : std::false_type {};
template <class K, class V, class H, class E, class A> struct ordered<std::unordered_multimap<K, V, H, E, A>> : std::false_type {};

// What == says of plain values. Texts and containers are gone through here, item by item: an operator that the program
// puts into the library's name space is not asked.
template <class A, class B> bool same(const A& left, const B& right) {
    if constexpr (is_text<A>::value ? like_text<B>::value : is_text<B>::value && like_text<A>::value) {
        auto [first, length] = letters(left);
        auto [second, other] = letters(right);
        if (length != other) return false;
        for (std::size_t at = 0; at < length; at++)
            if (first[at] != second[at]) return false;
        return true;
    } else if constexpr (!std::is_same_v<A, B>) return left == right;
    else if constexpr (made_of<std::pair, A>::value) return same(left.first, right.first) && same(left.second, right.second);
    else if constexpr (made_of<std::optional, A>::value)
        return left.has_value() == right.has_value() && (!left.has_value() || same(*left, *right));
    else if constexpr (ordered<A>::value) {
        auto first = left.begin(), second = right.begin();
        for (; first != left.end() && second != right.end(); ++first, ++second)
            if (!same<typename A::value_type, typename A::value_type>(*first, *second)) return false;
        return first == left.end() && second == right.end();
    } else return left == right;
}

// Comparisons as known before the program was read, so that operators of its own for types of the language are not seen.
struct equality {
    template <class A, class B, class = std::enable_if_t<std::is_invocable_r_v<bool, std::equal_to<>, const A&, const B&>>>
    bool operator()(const A& left, const B& right) const { return same(left, right); }
};
struct inequality {
    template <class A, class B, class = std::enable_if_t<std::is_invocable_r_v<bool, std::not_equal_to<>, const A&, const B&>>>
    bool operator()(const A& left, const B& right) const { return !same(left, right); }
};
constexpr equality equal_SUFFIX{};
constexpr inequality unequal_SUFFIX{};
constexpr std::less<> less_SUFFIX{};
constexpr std::less_equal<> at_most_SUFFIX{};
constexpr std::greater<> greater_SUFFIX{};
constexpr std::greater_equal<> at_least_SUFFIX{};

// A number for an enumeration, whose operators the program may define; null for a number beside a pointer.
template <class Other, class T> decltype(auto) bare(const T& value) {
    if constexpr (std::is_enum_v<T>) return static_cast<std::underlying_type_t<T>>(value);
    else if constexpr (std::is_pointer_v<Other> && std::is_integral_v<T>) return static_cast<Other>(nullptr);
    else return (value);
}
template <class A, class B, class Operator> using compares =
    std::is_invocable_r<bool, Operator, decltype(bare<B>(std::declval<const A&>())), decltype(bare<A>(std::declval<const B&>()))>;

template <class T> std::string name_of() { return type_name(&typeid(T)); }

// `assert(left == right)`, or with another operator; `sign` is what is shown before the expected value.
template <class Operator, class A, class B>
void compared_SUFFIX(int index, bool swapped, Operator holding, const char* sign, const A& left, const B& right) {
    if constexpr (!plain<A>::value) ended("unsupported", index, " " + hexadecimal(name_of<A>()));
    else if constexpr (!plain<B>::value) ended("unsupported", index, " " + hexadecimal(name_of<B>()));
    else if constexpr (!compares<A, B, Operator>::value)
        ended("unsupported", index, " " + hexadecimal(name_of<A>() + " compared with " + name_of<B>()));
    else {
        // Compared once, whether it is the canary or not: what differs from call to call cannot tell one from the other.
        auto plainly = [&] { return holding(bare<B>(left), bare<A>(right)); };
        bool holds;
        if (canary != index) holds = plainly();
        else {
            auto other = changed(right);
            using Other = std::decay_t<decltype(other)>;
            if constexpr (!std::is_same_v<Operator, equality> || std::is_same_v<Other, unknown>) holds = !plainly();
            else if constexpr (!compares<A, typename Other::value_type, Operator>::value) holds = !plainly();
            else holds = other ? holding(bare<typename Other::value_type>(left), bare<A>(*other)) : !plainly();
        }
        if (holds) return passed(index);
        std::string first = shown(left), second = shown(right);
        std::string& expected = swapped ? first : second;
        if (*sign && !expected.empty()) expected = std::string(sign) + " " + expected;
        ended("failed", index, " " + hexadecimal(expected) + " " + hexadecimal(swapped ? second : first));
    }
}

// `assert(value)`, or `assert(!value)`.
template <class T> void holds_SUFFIX(int index, bool wanted, const T& value) {
    if constexpr (!plain<T>::value) ended("unsupported", index, " " + hexadecimal(name_of<T>()));
    else {
        bool holds = static_cast<bool>(value) == wanted;
        if (holds != (canary == index)) return passed(index);
        ended("failed", index, " - -");
    }
}

}  // namespace rolecall_SUFFIX
