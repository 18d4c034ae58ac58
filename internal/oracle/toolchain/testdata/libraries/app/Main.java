package app;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.annotations.SerializedName;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Observable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.DelayKt;
import okio.Buffer;
import okio.ByteString;
import org.apache.commons.lang3.StringUtils;
import org.apache.commons.lang3.text.WordUtils;

/** An app of five libraries, whose work is on one thread and always the same. */
public final class Main {
    private Main() {
    }

    static final class Order {
        @SerializedName("number")
        int number;
        @SerializedName("goods")
        List<String> goods = new ArrayList<>();
    }

    static String json() {
        Gson gson = new GsonBuilder().setPrettyPrinting().create();
        Order order = gson.fromJson("{\"number\": 7, \"goods\": [\"pen\", \"ink\"]}", Order.class);
        order.goods.add("paper");
        return gson.toJson(order) + gson.toJson(new TreeMap<>(java.util.Collections.singletonMap("key", 1.5)));
    }

    static String reactive() {
        List<Integer> seen = new ArrayList<>();
        Observable.range(1, 20).filter(n -> n % 3 != 0).map(n -> n * n).scan(Integer::sum).blockingForEach(seen::add);
        String failed = Flowable.just("a", "b").map(s -> {
            if (s.equals("b")) {
                throw new IllegalStateException(s);
            }
            return s;
        }).onErrorReturn(e -> "failed " + e.getMessage()).toList().blockingGet().toString();
        return seen + failed;
    }

    static String coroutines() throws InterruptedException {
        return BuildersKt.runBlocking(EmptyCoroutineContext.INSTANCE, (scope, continuation) -> {
            Object waited = DelayKt.delay(1, continuation);
            return waited == kotlin.coroutines.intrinsics.CoroutineSingletons.COROUTINE_SUSPENDED ? waited : "at once";
        }) + "";
    }

    static String bytes() throws java.io.IOException {
        Buffer buffer = new Buffer();
        for (int k = 0; k < 50; k++) {
            buffer.writeUtf8("line ").writeDecimalLong(k).writeByte('\n');
        }
        int lines = 0;
        while (buffer.readUtf8Line() != null) {
            lines++;
        }
        return lines + ByteString.encodeUtf8("tracegen").sha256().hex();
    }

    static String text() {
        return WordUtils.capitalizeFully(StringUtils.reverseDelimited("a.bc.def", '.')) + StringUtils.join(
            Arrays.asList(StringUtils.splitByCharacterTypeCamelCase("countTheWordsOfThis")), ' ');
    }

    public static void main(String[] args) throws Exception {
        System.out.println(json());
        System.out.println(reactive());
        System.out.println(coroutines());
        System.out.println(bytes());
        System.out.println(text());
    }
}
