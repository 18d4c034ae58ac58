package dev.tracegen.runtime.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings from outside: only those of the team count, and they never make an app useless. */
class RemoteConfigTest {
    @TempDir
    Path dir;

    private static final KeyPair PAIR = pair("secp256r1");
    private final FakePlatform platform = new FakePlatform();

    private static KeyPair pair(String curve) {
        try {
            KeyPairGenerator g = KeyPairGenerator.getInstance("EC");
            g.initialize(new ECGenParameterSpec(curve));
            return g.generateKeyPair();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static String key(KeyPair pair) {
        return Base64.getEncoder().encodeToString(pair.getPublic().getEncoded());
    }

    private static byte[] signed(KeyPair pair, String text) throws Exception {
        Signature s = Signature.getInstance("SHA256withECDSA");
        s.initSign(pair.getPrivate());
        s.update(text.getBytes(StandardCharsets.UTF_8));
        return (Base64.getEncoder().encodeToString(s.sign()) + "\n" + text).getBytes(StandardCharsets.UTF_8);
    }

    private String settings(int serial, String more) {
        return "package=a.b\nserial=" + serial + "\nexpires=" + (platform.wallMillis() + 1000000) + "\n" + more + "\n";
    }

    /** As of another start of the process. */
    private RemoteConfig config() {
        return new RemoteConfig(dir.toFile(), key(PAIR), "a.b", platform, new Random(1));
    }

    private String slow() {
        return config().begin().getProperty("slow");
    }

    @Test
    void onlyNewerSettingsOfTheTeamCount() throws Exception {
        assertEquals("", config().accept(signed(PAIR, settings(5, "slow=300"))));
        assertEquals("300", slow());
        byte[] good = signed(PAIR, settings(6, "slow=1"));
        List<byte[]> bad = new ArrayList<byte[]>();
        bad.add(signed(pair("secp256r1"), settings(6, "slow=1")));
        bad.add(settings(6, "slow=1").getBytes(StandardCharsets.UTF_8));
        bad.add(signed(PAIR, settings(5, "slow=1")));
        bad.add(signed(PAIR, settings(4, "slow=1")));
        bad.add(signed(PAIR, settings(6, "slow=1").replace("a.b", "a.c")));
        bad.add(signed(PAIR, settings(6, "slow=1").replace("package=a.b", "")));
        bad.add(signed(PAIR, settings(6, "slow=1").replaceAll("expires=[0-9]+", "expires=" + platform.wallMillis())));
        bad.add(signed(PAIR, settings(6, "slow=1").replaceAll("expires=[0-9]+", "")));
        bad.add(signed(PAIR, settings(6, "slow=1").replaceAll("serial=[0-9]+", "serial=x")));
        bad.add(signed(PAIR, settings(6, "slow=\\u00zz")));
        bad.add(new byte[0]);
        bad.add(new byte[] {'\n'});
        for (int k = 0; k < good.length; k += 7) {
            byte[] damaged = good.clone();
            damaged[k] ^= 1;
            bad.add(damaged);
            bad.add(java.util.Arrays.copyOf(good, k));
        }
        for (byte[] body : bad) {
            String text = new String(body, StandardCharsets.UTF_8);
            assertTrue(config().accept(body).length() > 0, text);
            assertEquals("300", slow(), text);
        }
        assertEquals("", config().accept(good));
        assertEquals("1", slow());
        // A file that was changed on the disk changes nothing either.
        Path file = dir.resolve("config");
        Files.write(file, new String(Files.readAllBytes(file), StandardCharsets.UTF_8).replace("slow=1", "slow=2")
                .getBytes(StandardCharsets.UTF_8));
        assertEquals(null, slow());
        assertTrue(config().accept(good).contains("6 was accepted before"));
    }

    @Test
    void settingsEndWhenTheyExpireButTheKillSwitchDoesNot() throws Exception {
        config().accept(signed(PAIR, settings(1, "slow=300")));
        platform.pass(1000000);
        assertEquals(null, slow());
        assertEquals("", config().accept(signed(PAIR, settings(2, "enabled=false"))));
        platform.pass(10000000);
        assertTrue(RemoteConfig.switchesOff(config().begin()));
        for (int k = 0; k < 5; k++) {
            assertTrue(RemoteConfig.switchesOff(config().begin()), "it is never dropped");
        }
        assertEquals("", config().accept(signed(PAIR, settings(3, "enabled=true"))));
        assertFalse(RemoteConfig.switchesOff(config().begin()));
    }

    @Test
    void theyAreFetchedNowAndThenAndApplied() throws Exception {
        try (Collector collector = new Collector()) {
            collector.config = signed(PAIR, settings(1, "slow=300"));
            HttpUploader http = collector.uploader(null);
            List<Properties> applied = new ArrayList<Properties>();
            RemoteConfig c = config().source(http, Collections.singletonMap("device", "a b&c"), applied::add);
            assertTrue(c.isDue(platform.wallMillis()));
            c.fetch();
            assertEquals("[GET /v1/config?package=a.b&device=a+b%26c null]", collector.requests.toString());
            assertEquals("300", applied.get(0).getProperty("slow"));
            assertFalse(c.isDue(platform.wallMillis() + 3600000));
            assertFalse(config().source(http, Collections.<String, String>emptyMap(), null)
                    .isDue(platform.wallMillis() + 3600000), "another start of the process waits too");
            platform.pass(6 * 3600000);
            assertTrue(c.isDue(platform.wallMillis()));
            c.fetch();
            assertEquals(1, applied.size(), "304");
            collector.ways.add(500);
            platform.pass(6 * 3600000);
            c.fetch();
            assertEquals(1, applied.size());
            assertFalse(c.isDue(platform.wallMillis()));
            assertTrue(c.isDue(platform.wallMillis() + 3600000));
            collector.tag = "\"two\"";
            collector.config = signed(pair("secp256r1"), settings(2, "slow=1"));
            c.fetch();
            assertEquals(1, applied.size());
            assertTrue(platform.logged.toString().contains("the signature is wrong"), platform.logged.toString());
            collector.config = signed(PAIR, settings(2, "enabled=false"));
            c.fetch();
            assertTrue(RemoteConfig.switchesOff(applied.get(1)));
        }
    }

    @Test
    void aKeyOfAnotherKindIsRefused() {
        for (String wrong : new String[] {"", "!", "AAAA", key(pair("secp384r1"))}) {
            assertThrows(IllegalArgumentException.class,
                    () -> new RemoteConfig(dir.toFile(), wrong, "a.b", platform,
                    new Random(1)), wrong);
        }
    }

    @Test
    void methodsAreSwitchedOffOnlyWithTheRightMapping() {
        Properties p = new Properties();
        assertFalse(RemoteConfig.methodsOff(p));
        p.setProperty("methods-off", "1, 2,x");
        p.setProperty("mapping", "1111111111111111");
        assertFalse(RemoteConfig.methodsOff(p));
        p.setProperty("mapping", "0000000000000000");
        assertTrue(RemoteConfig.methodsOff(p));
        p.setProperty("methods-off", "");
        assertTrue(RemoteConfig.methodsOff(p));
    }
}
