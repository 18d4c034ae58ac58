package com.tencent.matrix.util;

/** Stands for Matrix's log, which needs Android. */
public class MatrixLog {
  public static void d(String tag, String format, Object... args) {}

  public static void i(String tag, String format, Object... args) {}

  public static void w(String tag, String format, Object... args) {}

  public static void e(String tag, String format, Object... args) {}
}
