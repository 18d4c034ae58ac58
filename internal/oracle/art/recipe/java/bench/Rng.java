package bench;

import java.io.FileInputStream;
import java.security.Provider;
import java.security.SecureRandomSpi;

/** The only security provider: SecureRandom from /dev/urandom. Conscrypt, which has the others, is in no package. */
public final class Rng extends Provider {
    public Rng() {
        super("Bench", 1.0, "random numbers from /dev/urandom");
        put("SecureRandom.SHA1PRNG", "bench.Rng$Spi");
    }

    /** Reads the device each time. */
    public static final class Spi extends SecureRandomSpi {
        @Override
        protected void engineSetSeed(byte[] seed) {
        }

        @Override
        protected void engineNextBytes(byte[] b) {
            try (FileInputStream in = new FileInputStream("/dev/urandom")) {
                for (int n = 0; n < b.length; ) n += in.read(b, n, b.length - n);
            } catch (java.io.IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        protected byte[] engineGenerateSeed(int n) {
            byte[] b = new byte[n];
            engineNextBytes(b);
            return b;
        }
    }
}
