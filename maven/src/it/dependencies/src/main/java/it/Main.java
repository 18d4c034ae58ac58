package it;

import org.eclipse.core.runtime.Path;

/** Calls a class of a signed jar. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    for (int i = 0; i < 3; i++) {
      System.out.println(new Path("a/b/" + i).segmentCount());
    }
  }
}
