// As Small.java, for what older releases compile otherwise: private calls without accessors, concatenation by
// invokedynamic, records. Made in this directory by
//
//     javac --release 17 -g:lines -d . Modern.java
package modern;

class Modern { //= trivial trivial
    private int helper(int a) { return Integer.bitCount(a); } //= - -
    int toPrivate(int a) { return helper(a); } //= trivial -
    String concat(String a) { return a + "b"; } //= - -

    class Inner { //= - trivial
        int nest(int a) { return helper(a); } //= - -
    }

    interface Api {
        private int hidden(int a) { return Integer.bitCount(a); } //= - -
        private static int hiddenStatic(int a) { return Integer.bitCount(a); } //= - -
        default int toPrivate(int a) { return hidden(a); } //= trivial -
        static int toStatic(int a) { return hiddenStatic(a); } //= trivial -
        default int toAbstract(int a) { return missing(a); } //= - -
        int missing(int a);
    }

    record Point(int x, int y) {} //= <init>: - trivial | x: trivial trivial | y: trivial trivial | toString: - - | hashCode: - - | equals: - -
}
