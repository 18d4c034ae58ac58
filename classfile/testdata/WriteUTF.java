import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Prints DataOutputStream.writeUTF of each argument, a string as hexadecimal UTF-16 units, as hexadecimal bytes. */
public class WriteUTF {
    public static void main(String[] args) throws IOException {
        for (String hex : args) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < hex.length(); i += 4) {
                text.append((char) Integer.parseInt(hex.substring(i, i + 4), 16));
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new DataOutputStream(bytes).writeUTF(text.toString());
            byte[] b = bytes.toByteArray();
            StringBuilder out = new StringBuilder();
            for (int i = 2; i < b.length; i++) {
                out.append(String.format("%02x", b[i]));
            }
            System.out.println(out);
        }
    }
}
