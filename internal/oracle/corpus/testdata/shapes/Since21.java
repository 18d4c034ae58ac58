package shapes;

/** Patterns in switches, which javac compiles to a bootstrap call and a loop. */
public class Since21 {
    sealed interface Node {
    }

    record Leaf(int n) implements Node {
    }

    record Pair(Node left, Node right) implements Node {
    }

    static int sum(Node node) {
        return switch (node) {
            case Leaf(int n) when n > 100 -> 100;
            case Leaf(int n) -> n;
            case Pair(Leaf(int a), Leaf(int b)) -> a + b;
            case Pair(var l, var r) -> sum(l) + sum(r);
        };
    }
}
