package it.lib;

/** Is called by the application. */
public final class Lib {
  private Lib() {}

  public static int twice(int n) {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
      sum += n;
    }
    return sum;
  }
}
