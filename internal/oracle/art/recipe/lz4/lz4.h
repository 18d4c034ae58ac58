// The functions of liblz4 that dex2oat calls for compressed images.
extern "C" int LZ4_compressBound(int size);
extern "C" int LZ4_compress_default(const char* from, char* to, int size, int capacity);
extern "C" int LZ4_decompress_safe(const char* from, char* to, int size, int capacity);
