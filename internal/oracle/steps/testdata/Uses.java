import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import com.google.common.collect.HashMultimap;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.Lists;
import com.google.common.collect.TreeMultimap;
import com.google.common.primitives.Ints;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParser;
import com.google.gson.reflect.TypeToken;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.subjects.BehaviorSubject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kotlin.collections.CollectionsKt;
import kotlin.ranges.IntRange;
import kotlin.sequences.SequencesKt;
import kotlin.text.StringsKt;
import okio.Buffer;
import okio.ByteString;
import okio.Okio;

/** Uses libraries of Android apps, so that many of their bounded methods are called. */
public class Uses {
    static class Note {
        int id = 7;
        String title = "a \u00e4 \"b\"";
        double[] parts = {1, 2.5};
        Map<String, Long> counts = ImmutableMap.of("x", 3L, "y", -4L);
        List<Note> below = new ArrayList<>();
    }

    public static void main(String[] args) throws Exception {
        Note note = new Note();
        note.below.add(new Note());
        for (Gson gson : new Gson[] {new Gson(), new GsonBuilder().setPrettyPrinting().serializeNulls().create()}) {
            String text = gson.toJson(Lists.newArrayList(note, null));
            List<Note> back = gson.fromJson(text, new TypeToken<List<Note>>() { }.getType());
            System.out.println(text.equals(gson.toJson(back)));
            System.out.println(JsonParser.parseString(text).getAsJsonArray().size());
        }
        System.out.println(Joiner.on(',').withKeyValueSeparator('=').join(ImmutableMap.of(1, 2, 3, 4))
            + Splitter.on(',').trimResults().omitEmptyStrings().splitToList(" a, b,,c ")
            + ImmutableSortedSet.of(3, 1, 2).headSet(3) + Ints.asList(1, 2, 3).indexOf(2));
        HashMultimap<String, Integer> hash = HashMultimap.create();
        TreeMultimap<String, Integer> tree = TreeMultimap.create();
        for (int i = 0; i < 50; i++) {
            hash.put("k" + i % 7, i);
            tree.put("k" + i % 5, -i);
        }
        System.out.println(hash.get("k3").size() + " " + tree.keySet() + " " + tree.get("k1").first());
        BehaviorSubject<Integer> subject = BehaviorSubject.createDefault(0);
        List<Object> seen = new ArrayList<>();
        subject.map(x -> x * 2).filter(x -> x % 3 != 0).distinctUntilChanged().buffer(2).subscribe(seen::add);
        for (int i = 0; i < 20; i++) subject.onNext(i);
        subject.onComplete();
        Observable.range(1, 20).flatMap(x -> Observable.just(x, -x)).groupBy(x -> x % 3)
            .flatMapSingle(Observable::toList).scan(0, (n, list) -> n + list.size()).subscribe(seen::add);
        Flowable.range(1, 300).onBackpressureBuffer().window(7).concatMap(w -> w.reduce(0, Integer::sum).toFlowable())
            .zipWith(Flowable.fromArray(1, 2, 3), (a, b) -> a * b).subscribe(seen::add);
        System.out.println(seen);
        Buffer buffer = new Buffer();
        buffer.writeUtf8("grün\n").writeDecimalLong(-12345).writeByte(' ').writeHexadecimalUnsignedLong(9L);
        System.out.println(buffer.readUtf8Line() + buffer.readDecimalLong() + buffer.readByte()
            + Okio.buffer(Okio.source(new java.io.ByteArrayInputStream(new byte[9000]))).readByteString().size()
            + ByteString.encodeUtf8("base").base64() + ByteString.decodeHex("00ff").hashCode());
        System.out.println("" + CollectionsKt.chunked(CollectionsKt.toList(new IntRange(1, 10)), 3)
            + SequencesKt.toList(SequencesKt.take(SequencesKt.generateSequence(1, x -> x * 3), 5))
            + StringsKt.padStart("x", 4, '.') + StringsKt.lines("a\nb") + StringsKt.capitalize("word"));
    }
}
