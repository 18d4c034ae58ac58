package dev.tracegen.oracle;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;

/** Reads the name of a class from its bytes, because a jar may keep it under any path. */
final class ThisClass {
    private ThisClass() {
    }

    /** Returns the name with dots, as {@link Class#forName(String)} takes it. */
    static String of(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        if (in.readInt() != 0xCAFEBABE) {
            throw new IOException("no class file");
        }
        in.readInt();
        int count = in.readUnsignedShort();
        Object[] pool = new Object[count];
        for (int k = 1; k < count; k++) {
            k += constant(in, pool, k);
        }
        in.readUnsignedShort();
        return ((String) pool[(Integer) pool[in.readUnsignedShort()]]).replace('/', '.');
    }

    /** Reads one constant and reports how many entries of the pool it takes beyond its own. */
    private static int constant(DataInputStream in, Object[] pool, int k) throws IOException {
        int tag = in.readUnsignedByte();
        switch (tag) {
            case 1:
                pool[k] = in.readUTF();
                return 0;
            case 7:
                pool[k] = in.readUnsignedShort();
                return 0;
            case 5:
            case 6:
                in.readLong();
                return 1;
            case 8:
            case 16:
            case 19:
            case 20:
                in.readUnsignedShort();
                return 0;
            case 15:
                in.readUnsignedByte();
                in.readUnsignedShort();
                return 0;
            default:
                in.readInt();
                return 0;
        }
    }
}
