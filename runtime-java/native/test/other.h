/* The same hook once more, as another library would have it, with a state of its own. */
#define got_install other_got_install
#define got_remove other_got_remove
