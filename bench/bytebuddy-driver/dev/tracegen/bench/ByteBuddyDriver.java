package dev.tracegen.bench;

import static net.bytebuddy.matcher.ElementMatchers.isAbstract;
import static net.bytebuddy.matcher.ElementMatchers.isBridge;
import static net.bytebuddy.matcher.ElementMatchers.isNative;
import static net.bytebuddy.matcher.ElementMatchers.isTypeInitializer;
import static net.bytebuddy.matcher.ElementMatchers.not;

import dev.tracegen.runtime.AppMethodBeat;
import java.io.BufferedWriter;
import java.io.File;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.build.Plugin;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.method.ParameterDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.MethodGraph;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.implementation.bytecode.constant.IntegerConstant;

/**
 * Inserts the same calls by ByteBuddy's Advice, offline, by its Plugin.Engine on all cores: nothing validated, no
 * method graph, no auxiliary types, descriptions without code, which is the fastest way according to its documentation.
 * Exits are reported at returns only.
 *
 * <p>Arguments: a file that lists the jars, the directory for the outputs, the mapping to write.
 */
public final class ByteBuddyDriver implements Plugin {
    /** Marks the parameter of the advice that is the method's ID. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Id {}

    /** The advice for every method. */
    static final class Calls {
        private Calls() {}

        @Advice.OnMethodEnter
        static void enter(@Id int id) {
            AppMethodBeat.i(id);
        }

        @Advice.OnMethodExit
        static void exit(@Id int id) {
            AppMethodBeat.o(id);
        }
    }

    /** Supplies the ID of a method, the same at its entry and at its exits. */
    private static final class Ids implements Advice.OffsetMapping.Factory<Id> {
        final Map<String, Integer> given = new ConcurrentHashMap<>();
        private final AtomicInteger last = new AtomicInteger();

        @Override
        public Class<Id> getAnnotationType() {
            return Id.class;
        }

        @Override
        public Advice.OffsetMapping make(ParameterDescription.InDefinedShape target,
                AnnotationDescription.Loadable<Id> annotation, AdviceType type) {
            return (instrumented, method, assigner, arguments, sort) ->
                    new Advice.OffsetMapping.Target.ForStackManipulation(IntegerConstant.forValue(of(method)));
        }

        private int of(MethodDescription method) {
            String name = (method.getModifiers() & 0xFFFF) + "," + method.getDeclaringType().asErasure().getName() + " "
                    + method.getInternalName() + " " + method.getDescriptor().replace('/', '.');
            return given.computeIfAbsent(name, n -> last.incrementAndGet());
        }
    }

    private final Advice calls;

    private ByteBuddyDriver(Ids ids) {
        calls = Advice.withCustomMapping().bind(ids).to(Calls.class);
    }

    public static void main(String[] args) throws Exception {
        Ids ids = new Ids();
        AtomicInteger failed = new AtomicInteger();
        List<String> jars = Files.readAllLines(Path.of(args[0]));
        for (String jar : jars) {
            new Plugin.Engine.Default()
                    .with(new ByteBuddy().with(TypeValidation.DISABLED)
                            .with(MethodGraph.Compiler.ForDeclaredMethods.INSTANCE)
                            .with(Implementation.Context.Disabled.Factory.INSTANCE))
                    .with(Plugin.Engine.TypeStrategy.Default.DECORATE)
                    .with(Plugin.Engine.PoolStrategy.Default.FAST)
                    .with(ClassFileLocator.ForClassLoader.ofPlatformLoader())
                    .withErrorHandlers(new Plugin.Engine.Listener.Adapter() {
                        @Override
                        public void onError(TypeDescription type, Plugin plugin, Throwable t) {
                            failed.incrementAndGet();
                        }
                    })
                    .withParallelTransformation(Runtime.getRuntime().availableProcessors())
                    .apply(new File(jar), new File(args[1], new File(jar).getName()),
                            new Plugin.Factory.Simple(new ByteBuddyDriver(ids)));
        }
        write(Path.of(args[2]), ids);
        if (failed.get() > 0) {
            System.out.println("leaves " + failed + " classes alone for errors");
        }
    }

    private static void write(Path mapping, Ids ids) throws Exception {
        Map<Integer, String> sorted = new TreeMap<>();
        ids.given.forEach((name, id) -> sorted.put(id, name));
        try (BufferedWriter w = Files.newBufferedWriter(mapping)) {
            for (Map.Entry<Integer, String> e : sorted.entrySet()) {
                w.write(e.getKey() + "," + e.getValue() + "\n");
            }
        }
    }

    @Override
    public boolean matches(TypeDescription type) {
        return !type.getName().endsWith("-info");
    }

    @Override
    public DynamicType.Builder<?> apply(DynamicType.Builder<?> builder, TypeDescription type,
            ClassFileLocator locator) {
        return builder.visit(calls.on(not(isAbstract().or(isNative()).or(isBridge()).or(isTypeInitializer()))));
    }

    @Override
    public void close() {}
}
