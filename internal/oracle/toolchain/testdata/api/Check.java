import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.codehaus.mojo.animal_sniffer.SignatureChecker;
import org.codehaus.mojo.animal_sniffer.logging.Logger;

/**
 * Prints a line for each use of a class, method or field that is neither in a list of signatures nor in packages named:
 * SIGNATURES PACKAGES JAR..., where packages are separated by commas.
 */
public final class Check extends SignatureChecker {
    private Check(InputStream signatures, Set<String> ignored, Logger logger) throws Exception {
        super(signatures, ignored, logger);
    }

    public static void main(String[] args) throws Exception {
        Set<String> ignored = new HashSet<>(Arrays.asList(args[1].split(",")));
        try (InputStream signatures = new FileInputStream(args[0])) {
            Check check = new Check(signatures, ignored, new Printer());
            check.setSourcePath(Collections.<File>emptyList());
            int classes = 0;
            for (String jar : Arrays.asList(args).subList(2, args.length)) {
                try (ZipFile zip = new ZipFile(jar)) {
                    for (Enumeration<? extends ZipEntry> e = zip.entries(); e.hasMoreElements();) {
                        ZipEntry entry = e.nextElement();
                        if (entry.getName().endsWith(".class") && !entry.getName().equals("module-info.class")) {
                            check.process(entry.getName(), zip.getInputStream(entry));
                            classes++;
                        }
                    }
                }
            }
            System.out.println("checked " + classes);
        }
    }

    private static final class Printer implements Logger {
        @Override
        public void info(String message) {
        }

        @Override
        public void info(String message, Throwable t) {
        }

        @Override
        public void debug(String message) {
        }

        @Override
        public void debug(String message, Throwable t) {
        }

        @Override
        public void warn(String message) {
            System.out.println("use " + message);
        }

        @Override
        public void warn(String message, Throwable t) {
            System.out.println("use " + message + " " + t);
        }

        @Override
        public void error(String message) {
            System.out.println("use " + message);
        }

        @Override
        public void error(String message, Throwable t) {
            System.out.println("use " + message + " " + t);
        }
    }
}
