package com.tencent.matrix.trace.core;

/** Stands for Matrix's recorder, which needs Android; its clock began at 0. */
public class AppMethodBeat {
  public static boolean isDev;

  public static long getDiffTime() {
    return 0;
  }
}
