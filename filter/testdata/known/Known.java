import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Calls the methods that a file lists, one a line, with several arguments each. */
public class Known {
  record Empty() {}

  private static final Map<Class<?>, List<?>> VALUES =
      Map.ofEntries(
          Map.entry(int.class, List.of(0, -1, 127, 128, Integer.MIN_VALUE)),
          Map.entry(long.class, List.of(0L, -1L, 127L, 128L, Long.MIN_VALUE)),
          Map.entry(float.class, List.of(0f, -0f, 1.5f, Float.NaN, Float.NEGATIVE_INFINITY)),
          Map.entry(double.class, List.of(0d, -0d, 1.5, Double.NaN, Double.NEGATIVE_INFINITY)),
          Map.entry(boolean.class, List.of(true, false)),
          Map.entry(String.class, List.of("", "abc", "\u4e2d\u4e2d")),
          Map.entry(Boolean.class, List.of(true)),
          Map.entry(Integer.class, List.of(5)),
          Map.entry(Long.class, List.of(5L)),
          Map.entry(Short.class, List.of((short) 5)),
          Map.entry(Byte.class, List.of((byte) 5)),
          Map.entry(Character.class, List.of('c')),
          Map.entry(Float.class, List.of(5f)),
          Map.entry(Double.class, List.of(5d)),
          Map.entry(Enum.class, List.of(TimeUnit.DAYS)),
          Map.entry(AtomicBoolean.class, List.of(new AtomicBoolean())),
          Map.entry(AtomicInteger.class, List.of(new AtomicInteger())),
          Map.entry(AtomicLong.class, List.of(new AtomicLong())),
          Map.entry(AtomicReference.class, List.of(new AtomicReference<>())),
          Map.entry(Object.class, List.of("an object")));

  public static void main(String[] args) throws Exception {
    new ArrayList<>();
    new LinkedHashSet<>();
    new Empty();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] parts = line.split(" ");
      Class<?> owner = Class.forName(parts[0].replace('/', '.'));
      Class<?>[] types = MethodType.fromMethodDescriptorString(parts[2], null).parameterArray();
      for (int n = 0; n < (types.length < 2 ? 5 : 25); n++) {
        Object[] values = new Object[types.length];
        for (int i = 0, rest = n; i < values.length; i++, rest /= 5) {
          values[i] = value(types[i], rest);
        }
        if (parts[1].equals("<init>")) {
          construct(owner, types, values);
        } else {
          call(owner, parts[1], types, values, n);
        }
      }
    }
  }

  private static Object value(Class<?> type, int n) {
    List<?> values = VALUES.get(type);
    return values.get(n % values.size());
  }

  private static void construct(Class<?> owner, Class<?>[] types, Object[] values) throws Exception {
    Constructor<?> c = owner.getDeclaredConstructor(types);
    if (Modifier.isPublic(c.getModifiers()) && !Modifier.isAbstract(owner.getModifiers())) {
      c.newInstance(values);
    }
  }

  private static void call(Class<?> owner, String name, Class<?>[] types, Object[] values, int n) throws Exception {
    Method m = owner.getDeclaredMethod(name, types);
    if (!Modifier.isStatic(m.getModifiers())
        && !Modifier.isFinal(m.getModifiers())
        && !Modifier.isFinal(owner.getModifiers())) {
      throw new AssertionError(m + " can be overridden");
    }
    try {
      m.invoke(Modifier.isStatic(m.getModifiers()) ? null : value(owner, n), values);
    } catch (InvocationTargetException e) {
      throw new AssertionError(m + " throws", e);
    }
  }
}
