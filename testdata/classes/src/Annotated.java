import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** Annotations of every place that a class file can say, type annotations inside code above all. */
@Deprecated
@Annotated.Mark(value = 3, names = {"a", "b"}, kind = ElementType.FIELD, type = int[].class, inner = @Annotated.Use)
public class Annotated<@Annotated.Use T extends @Annotated.Use Object & Comparable<@Annotated.Use T>> {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {
        int value() default 1;

        String[] names() default {};

        ElementType kind() default ElementType.TYPE;

        Class<?> type() default Object.class;

        Use inner() default @Use(9);

        double d() default 1.5;
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
    @Repeatable(Uses.class)
    @interface Use {
        int value() default 0;
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
    @interface Uses {
        Use[] value();
    }

    @Retention(RetentionPolicy.CLASS)
    @Target({ElementType.TYPE_USE, ElementType.PARAMETER, ElementType.METHOD})
    @interface Hidden {
    }

    @Use List<@Use(1) ? super @Use(2) T> field;

    @Hidden
    <X extends @Use Exception> @Use int code(@Hidden @Mark Object in, @Use String @Use [] @Use(2) [] words, T t)
            throws @Use(7) X {
        @Use(10) List<@Use(11) String> list = new @Use(12) ArrayList<@Use(13) String>();
        if (in instanceof @Use(14) @Use(15) String) {
            list.add((@Use(16) String) in);
        }
        try {
            for (@Use(17) String s : list) {
                @Hidden long n = s.length();
                list.add(s + n);
            }
        } catch (@Use(18) IllegalStateException | @Use(19) IllegalArgumentException e) {
            list.clear();
        } catch (@Use(20) RuntimeException e) {
            Supplier<@Use(21) Object> make = @Use(22) Object::new;
            Function<Object, String> f = @Use(23) String::valueOf;
            list.add(f.apply(make.get()));
        }
        try (@Use(24) AutoCloseable c = () -> { }) {
            list.toArray(new @Use(25) String @Use(26) [3]);
            this.<@Use(27) String>generic("x");
        } catch (Exception e) {
            return 3 - (@Use(28) int) (@Use(29) long) list.size();
        }
        return list.size();
    }

    private <Y> void generic(Y y) {
    }
}
