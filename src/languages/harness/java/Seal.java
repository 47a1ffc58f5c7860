package rolecall;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Puts a digest of each line and its number before it: SipHash-2-4 under the nonce, which is never said. */
final class Seal {
    private final long first;
    private final long second;
    private long lines;

    Seal(String nonce) {
        first = Long.parseUnsignedLong(nonce.substring(0, 16), 16);
        second = Long.parseUnsignedLong(nonce.substring(16), 16);
    }

    synchronized void write(OutputStream output, String words) throws IOException {
        byte[] text = (lines++ + " " + words).getBytes(StandardCharsets.UTF_8);
        String digits = Long.toHexString(digest(text));
        String line = "0".repeat(16 - digits.length()) + digits + " " + words + "\n";
        output.write(line.getBytes(StandardCharsets.UTF_8));
    }

    private long digest(byte[] text) {
        long[] state = {
            first ^ 0x736f6d6570736575L, second ^ 0x646f72616e646f6dL, first ^ 0x6c7967656e657261L,
            second ^ 0x7465646279746573L
        };
        int whole = text.length / 8;
        for (int block = 0; block < whole; block++) absorb(state, word(text, 8 * block, 8));
        absorb(state, word(text, 8 * whole, text.length % 8) | (long) text.length << 56);
        state[2] ^= 0xff;
        for (int count = 0; count < 4; count++) round(state);
        return state[0] ^ state[1] ^ state[2] ^ state[3];
    }

    private static long word(byte[] text, int from, int count) {
        long word = 0;
        for (int at = 0; at < count; at++) word |= (text[from + at] & 0xffL) << 8 * at;
        return word;
    }

    private static void absorb(long[] state, long word) {
        state[3] ^= word;
        round(state);
        round(state);
        state[0] ^= word;
    }

    private static void round(long[] state) {
        state[0] += state[1];
        state[2] += state[3];
        state[1] = Long.rotateLeft(state[1], 13) ^ state[0];
        state[3] = Long.rotateLeft(state[3], 16) ^ state[2];
        state[0] = Long.rotateLeft(state[0], 32) + state[3];
        state[2] += state[1];
        state[3] = Long.rotateLeft(state[3], 21) ^ state[0];
        state[1] = Long.rotateLeft(state[1], 17) ^ state[2];
        state[2] = Long.rotateLeft(state[2], 32);
    }
}
