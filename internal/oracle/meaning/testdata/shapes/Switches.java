// release: 8
/** Switches of every kind, whose padding moves with the code in front of them. */
public final class Switches {
    enum Colour { RED, GREEN, BLUE }

    static int leaf() {
        return 41;
    }

    // tables: (+table -table)*6
    static String table(int n) {
        switch (n) {
            case 1:
                return "one";
            case 2:
            case 3:
                return "few";
            case 4:
                n += 10;
                // falls through
            case 5:
                return "many " + n;
            default:
                return "none";
        }
    }

    // lookups: (+lookup -lookup)*2 +lookup +leaf -leaf -lookup
    static int lookup(int n) {
        int r = 0;
        switch (n) {
            case Integer.MIN_VALUE:
                r = 1;
                break;
            case 70000:
                r = leaf();
                break;
            case Integer.MAX_VALUE:
                return 3;
        }
        return r;
    }

    // Two strings with one hash code.
    // strings: (+string -string)*4
    static int string(String s) {
        switch (s) {
            case "Aa":
                return 1;
            case "BB":
                return 2;
            case "c":
                return 3;
            default:
                return s.length();
        }
    }

    // enums exact: +named -named +named -named +named +leaf -leaf -named +named -named
    // enums throws: +named -named +named -named +named +leaf -leaf -named +named
    // enums normal: +named -named +named -named +named +leaf -leaf +named
    static int named(Colour c) {
        switch (c) {
            case RED:
                return 0xff0000;
            case GREEN:
                return 0x00ff00;
            default:
                throw new IllegalArgumentException(c + " " + leaf());
        }
    }

    // looped: +looped (+leaf -leaf)*4 -looped
    static int looped(String program) {
        int n = 0;
        // An interpreter's loop: a switch in a loop in a try, with every kind of path.
        loop:
        for (int at = 0; ; at++) {
            try {
                switch (program.charAt(at)) {
                    case '+':
                        n += leaf();
                        continue;
                    case '-':
                        n -= 1;
                        break;
                    case '[':
                        switch (n) {
                            case 0:
                                break loop;
                            case 41:
                                n++;
                                // falls through
                            default:
                                continue loop;
                        }
                    case 'x':
                        throw new ArithmeticException();
                    default:
                        return n;
                }
            } catch (ArithmeticException e) {
                n += leaf();
            }
        }
        return -1;
    }

    public static void main(String[] args) {
        Probe.mark("tables");
        Probe.out(table(0) + table(1) + table(3) + table(4) + table(5) + table(99));
        Probe.mark("lookups");
        Probe.out(lookup(Integer.MIN_VALUE) + lookup(Integer.MAX_VALUE) + lookup(70000));
        Probe.mark("strings");
        Probe.out(string("Aa") + string("BB") * 10 + string("c") * 100 + string("four") * 1000);
        Probe.mark("initialisers");
        named(Colour.GREEN);
        Probe.mark("enums");
        try {
            Probe.out(named(Colour.RED) + named(Colour.GREEN));
            named(Colour.BLUE);
        } catch (IllegalArgumentException e) {
            try {
                named(null);
            } catch (NullPointerException npe) {
                Probe.out(e);
            }
        }
        Probe.mark("looped");
        Probe.out(looped("+[+-x+!"));
        Probe.mark("done");
    }
}
