import java.security.MessageDigestSpi;
import java.security.Provider;
import java.security.Security;
import java.util.Arrays;

/**
 * Starts the program that is named. It first installs SHA-1, with which serialVersionUID is computed: a phone has it in
 * Conscrypt, which this ART lacks. Rhino names its scripts by MD5, and gets the same.
 */
public final class Start {
    private Start() {
    }

    public static void main(String[] args) throws Exception {
        Security.addProvider(new Digests());
        Class.forName(args[0]).getMethod("main", String[].class)
            .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    }

    /** Provides SHA-1. */
    public static final class Digests extends Provider {
        public Digests() {
            super("Digests", 1, "SHA-1");
            put("MessageDigest.SHA", Sha.class.getName());
            put("MessageDigest.MD5", Sha.class.getName());
        }
    }

    /** SHA-1 (FIPS 180-4). */
    public static final class Sha extends MessageDigestSpi {
        private final int[] h = new int[5];
        private final byte[] block = new byte[64];
        private long length;

        public Sha() {
            engineReset();
        }

        @Override
        protected void engineReset() {
            int[] initial = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
            System.arraycopy(initial, 0, h, 0, 5);
            length = 0;
        }

        @Override
        protected void engineUpdate(byte b) {
            block[(int) (length++ & 63)] = b;
            if ((length & 63) == 0) {
                compress();
            }
        }

        @Override
        protected void engineUpdate(byte[] data, int from, int count) {
            for (int k = from; k < from + count; k++) {
                engineUpdate(data[k]);
            }
        }

        @Override
        protected byte[] engineDigest() {
            long bits = length * 8;
            engineUpdate((byte) 0x80);
            while ((length & 63) != 56) {
                engineUpdate((byte) 0);
            }
            for (int shift = 56; shift >= 0; shift -= 8) {
                engineUpdate((byte) (bits >>> shift));
            }
            byte[] out = new byte[20];
            for (int k = 0; k < 20; k++) {
                out[k] = (byte) (h[k / 4] >>> (24 - k % 4 * 8));
            }
            engineReset();
            return out;
        }

        private void compress() {
            int[] w = new int[80];
            for (int t = 0; t < 16; t++) {
                for (int k = 0; k < 4; k++) {
                    w[t] = w[t] << 8 | block[4 * t + k] & 0xFF;
                }
            }
            for (int t = 16; t < 80; t++) {
                w[t] = Integer.rotateLeft(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
            }
            int a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
            for (int t = 0; t < 80; t++) {
                int f = t < 20 ? (b & c | ~b & d) + 0x5A827999
                    : t < 40 ? (b ^ c ^ d) + 0x6ED9EBA1
                    : t < 60 ? (b & c | b & d | c & d) + 0x8F1BBCDC
                    : (b ^ c ^ d) + 0xCA62C1D6;
                int next = Integer.rotateLeft(a, 5) + f + e + w[t];
                e = d;
                d = c;
                c = Integer.rotateLeft(b, 30);
                b = a;
                a = next;
            }
            h[0] += a;
            h[1] += b;
            h[2] += c;
            h[3] += d;
            h[4] += e;
        }
    }
}
