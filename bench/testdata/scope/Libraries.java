import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import com.sun.net.httpserver.HttpServer;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.schedulers.Schedulers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import kotlin.collections.CollectionsKt;
import kotlin.sequences.SequencesKt;
import kotlin.text.Regex;
import kotlin.text.StringsKt;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

/** Uses libraries as apps do: it fetches, parses, sorts, and passes elements through chains of operators. */
public class Libraries {
    static class Note {
        int id;
        String title;
        List<String> tags = new ArrayList<>();
    }

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 3; round++) {
            String json = fetch(write(2_000));
            List<Note> notes = new Gson().fromJson(json, new TypeToken<List<Note>>() {}.getType());
            System.out.println(sort(notes) + " " + operators(notes) + " " + texts(notes));
        }
    }

    private static String write(int count) {
        List<Note> notes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Note note = new Note();
            note.id = i * 7919 % count;
            note.title = "note " + i + " of " + count;
            note.tags.add("tag" + i % 10);
            notes.add(note);
        }
        return new Gson().toJson(notes);
    }

    /** Fetches a text from a server of its own, in some requests. */
    private static String fetch(String text) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        OkHttpClient client = new OkHttpClient();
        String last = "";
        try {
            for (int i = 0; i < 20; i++) {
                Request request = new Request.Builder()
                        .url("http://" + server.getAddress().getHostString() + ":" + server.getAddress().getPort())
                        .build();
                try (Response response = client.newCall(request).execute()) {
                    last = response.body().string();
                }
            }
        } finally {
            server.stop(0);
            client.dispatcher().executorService().shutdown();
            client.connectionPool().evictAll();
        }
        return last;
    }

    private static int sort(List<Note> notes) {
        List<Note> sorted = CollectionsKt.sortedWith(notes, Comparator.comparing(note -> note.title));
        return CollectionsKt.take(CollectionsKt.reversed(CollectionsKt.plus(sorted, sorted)), 100).size();
    }

    private static long operators(List<Note> notes) {
        long all = Flowable.range(0, 20_000).map(i -> i * 2).filter(i -> i % 3 == 0).buffer(16)
                .flatMapIterable(list -> list).observeOn(Schedulers.computation()).count().blockingGet();
        return all + Observable.fromIterable(notes).groupBy(note -> note.id % 10).flatMap(group -> group.map(note -> note.id))
                .subscribeOn(Schedulers.io()).distinct().count().blockingGet();
    }

    private static int texts(List<Note> notes) {
        int count = 0;
        Regex digits = new Regex("[0-9]+");
        for (Note note : notes) {
            count += StringsKt.trim((CharSequence) StringsKt.replace(note.title, "note", "text", false)).length();
            count += digits.containsMatchIn(note.title) ? 1 : 0;
        }
        return count + SequencesKt.count(SequencesKt.filter(SequencesKt.asSequence(notes.iterator()), n -> n.id > 10));
    }
}
