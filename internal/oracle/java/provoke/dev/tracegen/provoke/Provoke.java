package dev.tracegen.provoke;

import java.io.File;
import java.io.PrintWriter;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Calls the static methods and constructors of all classes of a jar, and the methods of the objects that they return,
 * with nulls, zeros and empty strings, and writes the stack traces of the exceptions: {@code Provoke JAR OUT}. It
 * abandons a call that takes too long.
 */
public final class Provoke {
  private final List<Object> made = Collections.synchronizedList(new ArrayList<>());
  private final PrintWriter out;

  private Provoke(PrintWriter out) {
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    try (PrintWriter out = new PrintWriter(args[1], "UTF-8")) {
      Provoke p = new Provoke(out);
      Thread work = new Thread(() -> p.all(args[0]));
      work.setDaemon(true);
      work.start();
      work.join(15_000);
      synchronized (out) {
        out.flush();
        Runtime.getRuntime().halt(0);
      }
    }
  }

  private void all(String jar) {
    List<String> names = new ArrayList<>();
    try (JarFile file = new JarFile(new File(jar))) {
      for (Enumeration<JarEntry> e = file.entries(); e.hasMoreElements(); ) {
        String name = e.nextElement().getName();
        if (name.endsWith(".class") && !name.contains("-")) {
          names.add(name.substring(0, name.length() - 6).replace('/', '.'));
        }
      }
    } catch (java.io.IOException e) {
      throw new IllegalStateException(e);
    }
    Collections.sort(names);
    for (String name : names) {
      try {
        Class<?> c = Class.forName(name);
        for (Constructor<?> k : c.getDeclaredConstructors()) {
          call(k, k.getParameterTypes(), a -> k.newInstance(a));
        }
        for (Method m : c.getDeclaredMethods()) {
          if (Modifier.isStatic(m.getModifiers())) {
            call(m, m.getParameterTypes(), a -> m.invoke(null, a));
          }
        }
      } catch (Throwable e) {
        report(e);
      }
    }
    for (Object o : made.toArray()) {
      for (Method m : o.getClass().getDeclaredMethods()) {
        if (!Modifier.isStatic(m.getModifiers()) && !Modifier.isAbstract(m.getModifiers())) {
          call(m, m.getParameterTypes(), a -> m.invoke(o, a));
        }
      }
    }
  }

  private interface Call {
    Object with(Object[] args) throws ReflectiveOperationException;
  }

  private void call(AccessibleObject member, Class<?>[] types, Call call) {
    for (boolean nulls : new boolean[] {true, false}) {
      Object[] args = new Object[types.length];
      for (int i = 0; i < args.length; i++) {
        args[i] = value(types[i], nulls);
      }
      Thread t = new Thread(() -> {
        try {
          member.setAccessible(true);
          Object result = call.with(args);
          if (result != null && made.size() < 500) {
            made.add(result);
          }
        } catch (InvocationTargetException e) {
          report(e.getCause());
        } catch (Throwable e) {
          report(e);
        }
      });
      t.setDaemon(true);
      t.start();
      try {
        t.join(200);
      } catch (InterruptedException e) {
        return;
      }
      if (args.length == 0) {
        return;
      }
    }
  }

  private static Object value(Class<?> type, boolean nulls) {
    if (type.isPrimitive()) {
      return Array.get(Array.newInstance(type, 1), 0);
    }
    if (nulls) {
      return null;
    }
    if (type.isAssignableFrom(String.class)) {
      return "";
    }
    return type.isArray() ? Array.newInstance(type.getComponentType(), 0) : null;
  }

  private void report(Throwable e) {
    synchronized (out) {
      e.printStackTrace(out);
    }
  }
}
