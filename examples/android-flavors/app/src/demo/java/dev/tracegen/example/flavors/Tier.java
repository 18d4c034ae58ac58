package dev.tracegen.example.flavors;

/** What is different in this flavour. */
final class Tier {
    static final Integer SIZE = 3;

    private Tier() {}
}
