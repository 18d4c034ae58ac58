import com.tencent.matrix.trace.items.MethodItem;
import com.tencent.matrix.trace.util.TraceDataUtils;
import java.util.LinkedList;

/** Prints a stack in the forms in which Matrix prints one. */
class Report {
  public static void main(String[] args) {
    LinkedList<MethodItem> stack = new LinkedList<>();
    stack.add(new MethodItem(1048574, 5400, 0));
    stack.add(new MethodItem(17, 5396, 1));
    MethodItem twice = new MethodItem(23, 50, 2);
    twice.mergeMore(30);
    stack.add(twice);
    stack.add(new MethodItem(777777, 1, 3));
    StringBuilder report = new StringBuilder();
    StringBuilder logcat = new StringBuilder();
    TraceDataUtils.stackToString(stack, report, logcat);
    System.out.print(report);
    System.out.print(logcat);
    System.out.println("stackKey = " + TraceDataUtils.getTreeKey(stack, 30));
  }
}
