package plant;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** What a Groovy script calls, and what waits for the network. */
public final class Archive {
    /** On a busy machine the program takes longer to get here, and the wait must be most of the time. */
    private static final long MILLIS = Math.max(4000, 3 * (System.currentTimeMillis()
            - ManagementFactory.getRuntimeMXBean().getStartTime()));

    private Archive() {
    }

    public static int restore() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread slow = new Thread(() -> answer(server), "slow-server");
            slow.setDaemon(true);
            slow.start();
            return open(server.getLocalPort());
        }
    }

    private static int open(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return fill(socket.getInputStream());
        }
    }

    private static int fill(InputStream in) throws IOException {
        return in.read();
    }

    private static void answer(ServerSocket server) {
        try (Socket socket = server.accept()) {
            Thread.sleep(MILLIS);
            socket.getOutputStream().write(7);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
