/** The application for the run with {@code -p}: a named module that uses named modules. */
module dev.tracegen.meaning {
    requires com.fasterxml.jackson.databind;
    opens meaning to com.fasterxml.jackson.databind;
}
