/** Annotated, so that javac writes a class for it. */
@Deprecated
package sample;
