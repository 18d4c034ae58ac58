package com.example.feed;

/** One item of a feed. */
public final class Item {
    private String title;
    private String text;

    public String title() {
        return title;
    }

    public int words() {
        int words = 0;
        boolean inside = false;
        for (int i = 0; i < text.length(); i++) {
            boolean letter = Character.isLetterOrDigit(text.charAt(i));
            if (letter && !inside) {
                words++;
            }
            inside = letter;
        }
        return words;
    }
}
