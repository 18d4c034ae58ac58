package it;

/** A class that the second version has in addition. */
public final class More {
  private More() {}

  public static int more(int n) {
    int product = 1;
    for (int i = 1; i < n; i++) {
      product *= i;
    }
    return product;
  }
}
