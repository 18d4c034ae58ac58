import com.tencent.matrix.trace.items.MethodItem;
import com.tencent.matrix.trace.util.TraceDataUtils;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.LinkedList;

/** Decodes buffers as Matrix does: each line has 1 for strict, the end in milliseconds, and the records. */
class Decode {
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] fields = line.split(" ");
      long[] records = new long[fields.length - 2];
      for (int i = 0; i < records.length; i++) {
        records[i] = Long.parseUnsignedLong(fields[i + 2], 16);
      }
      LinkedList<MethodItem> stack = new LinkedList<>();
      try {
        TraceDataUtils.structuredDataToStack(records, stack, fields[0].equals("1"), Long.parseLong(fields[1]));
        StringBuilder out = new StringBuilder();
        for (MethodItem item : stack) {
          out.append(item.depth + "," + item.methodId + "," + item.count + "," + item.durTime + " ");
        }
        System.out.println(out);
      } catch (StackOverflowError e) {
        System.out.println("StackOverflowError");
      }
    }
  }
}
