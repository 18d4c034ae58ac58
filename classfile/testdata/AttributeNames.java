import java.lang.classfile.AttributeMapper;
import java.lang.classfile.Attributes;
import java.lang.reflect.Method;

/** Prints the name of every attribute that the JDK's own class file library knows. */
public class AttributeNames {
    public static void main(String[] args) throws ReflectiveOperationException {
        for (Method m : Attributes.class.getMethods()) {
            if (m.getReturnType() == AttributeMapper.class && m.getParameterCount() == 0) {
                System.out.println(((AttributeMapper<?>) m.invoke(null)).name());
            }
        }
    }
}
