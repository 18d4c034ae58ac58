package javax.annotation.processing;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** The annotation that Room and Dagger write at their classes. The stand-in for android.jar lacks it. */
@Retention(RetentionPolicy.SOURCE)
public @interface Generated {
    String[] value();

    String date() default "";

    String comments() default "";
}
