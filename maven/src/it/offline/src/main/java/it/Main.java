package it;

/** Makes calls that a recording must show. */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    System.out.println("sum " + work(1000));
    Thread.sleep(50);
  }

  static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      sum += step(i);
    }
    return sum;
  }

  static int step(int i) {
    int value = i;
    while (value > 10) {
      value /= 2;
    }
    return value;
  }
}
