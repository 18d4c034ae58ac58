package app;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParser;
import com.google.gson.annotations.SerializedName;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import okio.Buffer;
import okio.ByteString;
import okio.GzipSink;
import okio.GzipSource;
import okio.Okio;

/** An app of a library in Java and one in Kotlin, of which R8 keeps a part. */
public final class Main {
    private Main() {
    }

    enum Kind { PEN, INK, PAPER }

    static final class Order {
        @SerializedName("number")
        int number;
        @SerializedName("goods")
        List<Kind> goods = new ArrayList<>();
    }

    static String json() {
        Gson gson = new GsonBuilder().setPrettyPrinting().create();
        Order order = gson.fromJson("{\"number\": 7, \"goods\": [\"PEN\", \"INK\"]}", Order.class);
        order.goods.add(Kind.PAPER);
        return gson.toJson(order) + gson.toJson(new TreeMap<>(java.util.Collections.singletonMap("key", 1.5)))
                + JsonParser.parseString("[1, 2]").getAsJsonArray().size();
    }

    static String bytes() throws java.io.IOException {
        Buffer buffer = new Buffer();
        Okio.buffer(new GzipSink(buffer)).writeUtf8("tracegen").writeDecimalLong(7).close();
        String text = Okio.buffer(new GzipSource(buffer)).readUtf8();
        return text + ByteString.encodeUtf8(text).sha256().hex() + ByteString.decodeBase64("AA==").base64Url();
    }

    public static void main(String[] args) throws Exception {
        System.out.println(json());
        System.out.println(bytes());
    }
}
