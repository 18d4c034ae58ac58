package plant;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** What a Groovy script calls, and what waits for the network. */
public final class Archive {
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
            Thread.sleep(4000);
            socket.getOutputStream().write(7);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
