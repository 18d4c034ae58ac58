package dev.tracegen.example.flavors;

import dagger.Component;
import dagger.Module;
import dagger.Provides;
import dev.tracegen.example.feed.Feed;

/** What Dagger makes. */
@Component(modules = Graph.Sizes.class)
public interface Graph {
    Feed feed();

    /** The size of the feed, which each flavour has of its own. */
    @Module
    final class Sizes {
        private Sizes() {}

        @Provides
        static Integer size() {
            return Tier.SIZE;
        }
    }
}
