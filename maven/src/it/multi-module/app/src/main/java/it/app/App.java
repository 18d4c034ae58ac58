package it.app;

import it.lib.Lib;

/** Calls the library. */
public final class App {
  private App() {}

  public static void main(String[] args) {
    for (int i = 0; i < 3; i++) {
      System.out.println(Lib.twice(i));
    }
  }
}
