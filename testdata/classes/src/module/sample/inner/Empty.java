package sample.inner;

public interface Empty {
}
