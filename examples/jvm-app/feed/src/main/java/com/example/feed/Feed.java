package com.example.feed;

import com.google.gson.Gson;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** The items of a JSON file. */
public final class Feed {
    private final List<Item> items;

    private Feed(List<Item> items) {
        this.items = items;
    }

    public static Feed load(String resource) throws IOException {
        try (InputStream in = Feed.class.getResourceAsStream(resource);
                Reader reader = new InputStreamReader(in, StandardCharsets.UTF_8)) {
            return new Feed(Arrays.asList(new Gson().fromJson(reader, Item[].class)));
        }
    }

    public List<Item> items() {
        return items;
    }
}
