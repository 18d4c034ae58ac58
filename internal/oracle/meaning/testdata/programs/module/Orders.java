package meaning;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Writes, reads, merges and queries JSON. */
public final class Orders {
    public enum State { OPEN, PAID, SENT }

    public record Line(String item, int count, double price) {
        double total() {
            return count * price;
        }
    }

    public static final class Order {
        public int number;
        public State state;
        public List<Line> lines = new ArrayList<>();
        public Map<String, Object> extra = new TreeMap<>();
        private String note;

        public String getNote() {
            return note;
        }

        public void setNote(String note) {
            this.note = note;
        }
    }

    private Orders() {
    }

    static Order order(int n) {
        Order o = new Order();
        o.number = n;
        o.state = State.values()[n % 3];
        for (int k = 0; k < n % 6; k++) {
            o.lines.add(new Line("item-" + (n * 7 + k) % 40, k + 1, n * 0.25 + k));
        }
        o.extra.put("flags", List.of(n % 2 == 0, n % 3));
        o.setNote(n % 4 == 0 ? null : "note \u00e9 \"" + n + "\"");
        return o;
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT)
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
        List<Order> orders = new ArrayList<>();
        for (int n = 0; n < 1500; n++) {
            orders.add(order(n));
        }
        String text = mapper.writeValueAsString(orders);
        Files.writeString(Path.of("orders.json"), text);
        Order[] back = mapper.readValue(text, Order[].class);
        double sum = 0;
        for (Order o : back) {
            for (Line l : o.lines) {
                sum += l.total();
            }
        }
        System.out.println(Orders.class.getModule() + " " + back.length + " " + sum);
        JsonNode tree = mapper.readTree(text);
        int big = 0;
        for (JsonNode o : tree) {
            ((ObjectNode) o).put("size", o.path("lines").size()).remove("note");
            big += o.at("/lines/2/price").asDouble() > 100 ? 1 : 0;
        }
        System.out.println(big + " " + mapper.writeValueAsString(tree).length());
        int wrong = 0;
        for (int k = 0; k < 300; k++) {
            try {
                mapper.readValue("{\"number\":" + k + (k % 2 == 0 ? ",\"other\":1}" : ",]"), Order.class);
            } catch (JsonProcessingException e) {
                wrong += e.getOriginalMessage().length();
            }
        }
        System.out.println(wrong);
    }
}
