import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Verifies an envelope by the JDK alone: Verify ENVELOPE PUBLIC-KEY, the key as the base64 of its X.509 form. */
public class Verify {
    public static void main(String[] args) throws Exception {
        String envelope = Files.readString(Path.of(args[0]));
        byte[] key = Base64.getDecoder().decode(Files.readString(Path.of(args[1])).trim());
        String type = value(envelope, "payloadType");
        byte[] payload = Base64.getDecoder().decode(value(envelope, "payload"));
        if (!value(envelope, "keyid").equals(
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(key)))) {
            System.out.println("other key");
            System.exit(1);
        }
        Signature s = Signature.getInstance("SHA256withECDSA");
        s.initVerify(KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(key)));
        s.update(("DSSEv1 " + type.length() + " " + type + " " + payload.length + " ").getBytes(StandardCharsets.UTF_8));
        s.update(payload);
        boolean verified = s.verify(Base64.getDecoder().decode(value(envelope, "sig")));
        System.out.println(verified ? "verified" : "not verified");
        System.exit(verified ? 0 : 1);
    }

    static String value(String json, String key) {
        Matcher m = Pattern.compile('"' + key + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
        if (!m.find()) {
            throw new IllegalArgumentException("no " + key);
        }
        return m.group(1);
    }
}
