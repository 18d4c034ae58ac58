// See lz4.h.
extern "C" int LZ4_compress_HC(const char* from, char* to, int size, int capacity, int level);
constexpr int LZ4HC_CLEVEL_MAX = 12;
