/** A module declaration with every directive. */
@Deprecated
open module tracegen.sample {
    requires transitive java.logging;
    requires static java.sql;
    exports sample;
    exports sample.inner to java.logging, java.sql;
    uses java.sql.Driver;
    provides java.lang.Runnable with sample.Service;
}
