// Reads the request before anything of the program runs and writes what happened, a line each. SUFFIX stands for letters
// that the program cannot know, COUNT for the number of assertions.
namespace rolecall_SUFFIX {

// System calls without the C library, whose functions a program may replace.
inline long system_call(long number, long first, long second, long third) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#else
#error "test code in C++ runs on x86-64 and on 64-bit ARM only"
#endif
}

#if defined(__x86_64__)
constexpr long READ = 0, WRITE = 1, CONTROL = 72, END = 231;
#else
constexpr long READ = 63, WRITE = 64, CONTROL = 25, END = 94;
#endif
constexpr int CHANNEL = 3;
constexpr int ASSERTIONS = COUNT;
constexpr std::size_t MAX_TEXT = 500;

namespace {
char request[ASSERTIONS + 128];
unsigned long long key[2];
unsigned long long lines = 0;
bool speaking = false;
const char* mask = "-";
long canary = -1;
bool ended_before[ASSERTIONS + 1];
long reports = 0;
}

[[noreturn]] inline void end(int status) {
    for (;;) system_call(END, status, 0, 0);
}

// Before constructors of any priority; nothing of the libraries has begun yet.
static void read_request() {
    std::size_t length = 0;
    while (length + 1 < sizeof request) {
        long got = system_call(READ, CHANNEL, reinterpret_cast<long>(request + length), 1);
        if (got == -EINTR) continue;
        if (got != 1) end(121);
        if (request[length] == '\n') break;
        length++;
    }
    request[length] = 0;
    system_call(CONTROL, CHANNEL, 2 /* F_SETFD */, 1 /* FD_CLOEXEC */);
    char* parts[3] = {request, nullptr, nullptr};
    int part = 0;
    for (char* letter = request; *letter; letter++)
        if (*letter == ' ' && part < 2) *letter = 0, parts[++part] = letter + 1;
    if (part != 2) end(121);
    for (int at = 0; at < 32 && parts[0][at]; at++) {
        char digit = parts[0][at];
        key[at / 16] = key[at / 16] << 4 | static_cast<unsigned long long>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    mask = parts[1];
    if (*parts[2] != '-')
        for (canary = 0; *parts[2] >= '0' && *parts[2] <= '9'; parts[2]++) canary = canary * 10 + (*parts[2] - '0');
}

__attribute__((section(".preinit_array"), used)) static void (*at_first)() = read_request;

inline std::string hexadecimal(const std::string& text) {
    if (text.empty()) return "-";
    std::string digits;
    for (std::size_t at = 0; at < text.size() && at < MAX_TEXT + 8; at++) {
        unsigned char byte = static_cast<unsigned char>(text[at]);
        digits += "0123456789abcdef"[byte >> 4];
        digits += "0123456789abcdef"[byte & 15];
    }
    return digits;
}

// SipHash-2-4 of a text under the key: what a line begins with.
inline unsigned long long digest(const std::string& text) {
    using word = unsigned long long;
    word a = key[0] ^ 0x736f6d6570736575, b = key[1] ^ 0x646f72616e646f6d, c = key[0] ^ 0x6c7967656e657261, d = key[1] ^ 0x7465646279746573;
    auto turned = [](word value, int by) { return value << by | value >> (64 - by); };
    auto round = [&] {
        a += b, c += d, b = turned(b, 13) ^ a, d = turned(d, 16) ^ c;
        a = turned(a, 32) + d, c += b, d = turned(d, 21) ^ a, b = turned(b, 17) ^ c, c = turned(c, 32);
    };
    word block = 0;
    for (std::size_t at = 0; at <= text.size(); at++) {
        bool last = at == text.size();
        if (last) block |= static_cast<word>(text.size()) << 56;
        else block |= static_cast<word>(static_cast<unsigned char>(text[at])) << 8 * (at % 8);
        if (!last && at % 8 != 7) continue;
        d ^= block, round(), round(), a ^= block, block = 0;
    }
    c ^= 0xff, round(), round(), round(), round();
    return a ^ b ^ c ^ d;
}

inline void say(const char* word, long index, const std::string& fields = "") {
    while (__atomic_test_and_set(&speaking, __ATOMIC_ACQUIRE)) {
    }
    std::string words = std::string(word) + " " + (index < 0 ? "-" : std::to_string(index)) + fields;
    unsigned long long seal = digest(std::to_string(lines++) + " " + words);
    std::string line(16, '0');
    for (int at = 0; at < 16; at++) line[at] = "0123456789abcdef"[seal >> (60 - 4 * at) & 15];
    line += " " + words + "\n";
    const char* rest = line.data();
    std::size_t length = line.size();
    while (length > 0) {
        long written = system_call(WRITE, CHANNEL, reinterpret_cast<long>(rest), static_cast<long>(length));
        if (written == -EINTR || written == -EAGAIN) continue;
        if (written <= 0) end(121);
        rest += written, length -= static_cast<std::size_t>(written);
    }
    __atomic_clear(&speaking, __ATOMIC_RELEASE);
}

// Whether the assertion is to be judged: it is not decided yet.
inline bool begin_SUFFIX(int index) {
    if (mask[index] == '1' || ended_before[index]) return false;
    say("begin", index);
    return true;
}

inline void passed(int index) {
    reports++;
    say("passed", index);
}

// Not to be judged again: the first verdict of an assertion in a loop that is not `passed` counts.
inline void ended(const char* word, int index, const std::string& fields) {
    ended_before[index] = true;
    reports++;
    say(word, index, fields);
}

inline std::string type_name(const std::type_info* type) {
    if (!type) return "an exception";
    int status = 0;
    char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    std::string text = status == 0 && name ? name : type->name();
    std::free(name);
    return text;
}

// The exception that is being handled; index -1: outside of any assertion.
inline void raised_SUFFIX(int index) {
    std::string text = type_name(abi::__cxa_current_exception_type());
    try {
        throw;
    } catch (const std::exception& error) {
        text += ": ";
        text += error.what();
    } catch (const std::string& error) {
        text = "std::string: " + error;
    } catch (const char* error) {
        text += ": ";
        text += error ? error : "null";
    } catch (int error) {
        text += ": " + std::to_string(error);
    } catch (...) {
    }
    std::string field = " " + hexadecimal(text.substr(0, MAX_TEXT));
    if (index >= 0) ended("raised", index, field);
    else say("raised", index, field);
}

// Runs the test text.
inline int run_SUFFIX(void (*tests)()) {
    try {
        tests();
    } catch (...) {
        raised_SUFFIX(-1);
    }
    try {
        std::cout.flush();
        std::clog.flush();
        std::fflush(nullptr);
    } catch (...) {
    }
    say("done", reports);
    end(0);
}

}  // namespace rolecall_SUFFIX
