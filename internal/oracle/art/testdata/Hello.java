public class Hello {
    public static void main(String[] args) {
        System.out.println("ART " + System.getProperty("java.vm.version") + ": " + String.join(", ", args));
        System.exit(3);
    }
}
