/*
 * An agent that counts the bytecodes that calls of methods execute, in HotSpot's interpreter. Its option is IN,OUT:
 * IN has a line "class name descriptor" of each method, and OUT gets the same lines with how many calls of it there
 * were and how many bytecodes one call executed at most, those of the methods that it called included.
 *
 * What a JVM runs in between is not counted: initialisers of classes, Java code that loads a class, and constructors of
 * exceptions that an instruction throws.
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE (1 << 20)
#define DEPTH (1 << 16)

struct counted {
  char *line;
  long calls, most;
};

struct known {
  jmethodID id;
  struct counted *counted; /* NULL for a method that is not asked for */
  int hidden;
};

struct frame {
  struct known *method;
  long start;
};

static struct counted *list;
static int listed, *by_text;
static struct known *by_id;
static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of each thread. */
static __thread long steps;
static __thread int depth, hidden;
static __thread struct frame *frames;

static unsigned hash(const char *text) {
  unsigned h = 2166136261u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
  return h;
}

static struct counted *find(const char *line) {
  unsigned at = hash(line) & (TABLE - 1);
  for (; by_text[at]; at = (at + 1) & (TABLE - 1))
    if (!strcmp(list[by_text[at] - 1].line, line)) return &list[by_text[at] - 1];
  return NULL;
}

static void fail(const char *what) {
  fprintf(stderr, "steps: %s\n", what);
  exit(3);
}

static void read_list(const char *path) {
  FILE *in = fopen(path, "r");
  char line[4096];
  if (!in) fail("the list cannot be read");
  list = calloc(TABLE / 2, sizeof *list);
  by_text = calloc(TABLE, sizeof *by_text);
  by_id = calloc(TABLE, sizeof *by_id);
  while (fgets(line, sizeof line, in) && listed < TABLE / 2) {
    unsigned at;
    line[strcspn(line, "\n")] = 0;
    if (find(line)) continue;
    list[listed++].line = strdup(line);
    for (at = hash(line) & (TABLE - 1); by_text[at]; at = (at + 1) & (TABLE - 1)) {
    }
    by_text[at] = listed;
  }
  fclose(in);
}

/* Looks a method up. No method is unloaded: the programs make no class loaders. */
static struct known *known_of(jvmtiEnv *env, JNIEnv *jni, jmethodID id) {
  unsigned at = (unsigned)(((size_t)id >> 3) * 2654435761u) & (TABLE - 1);
  char *name, *descriptor, *class_name, line[4096];
  jclass class;
  for (; __atomic_load_n(&by_id[at].id, __ATOMIC_ACQUIRE); at = (at + 1) & (TABLE - 1))
    if (by_id[at].id == id) return &by_id[at];
  if ((*env)->GetMethodName(env, id, &name, &descriptor, NULL) || (*env)->GetMethodDeclaringClass(env, id, &class) ||
      (*env)->GetClassSignature(env, class, &class_name, NULL))
    fail("a method has no name");
  class_name[strlen(class_name) - 1] = 0;
  snprintf(line, sizeof line, "%s %s %s", class_name + 1, name, descriptor);
  pthread_mutex_lock(&lock);
  while (by_id[at].id && by_id[at].id != id) at = (at + 1) & (TABLE - 1);
  by_id[at].counted = find(line);
  by_id[at].hidden = !strcmp(name, "<clinit>") || !strcmp(name, "loadClass") || !strcmp(name, "checkPackageAccess") ||
                     (!strcmp(name, "<init>") && !strncmp(class_name, "Ljava/lang/", 11) &&
                      (strstr(class_name, "Exception") || strstr(class_name, "Throwable") || strstr(class_name, "Error")));
  __atomic_store_n(&by_id[at].id, id, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  (*env)->Deallocate(env, (unsigned char *)name);
  (*env)->Deallocate(env, (unsigned char *)descriptor);
  (*env)->Deallocate(env, (unsigned char *)class_name);
  (*jni)->DeleteLocalRef(jni, class);
  return &by_id[at];
}

static void JNICALL step(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jlocation at) {
  if (!hidden) steps++;
}

static void JNICALL entry(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID id) {
  if (!frames) frames = calloc(DEPTH, sizeof *frames);
  if (depth == DEPTH) fail("too many frames");
  frames[depth].method = known_of(env, jni, id);
  frames[depth].start = steps;
  hidden += frames[depth++].method->hidden;
}

static void JNICALL leave(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID id, jboolean by_exception, jvalue v) {
  struct frame *f;
  struct counted *c;
  if (!depth) return; /* entered before the events were on */
  f = &frames[--depth];
  if (f->method->id != id) fail("a frame was lost");
  hidden -= f->method->hidden;
  if (!(c = f->method->counted) || hidden) return;
  pthread_mutex_lock(&lock);
  c->calls++;
  if (steps - f->start > c->most) c->most = steps - f->start;
  pthread_mutex_unlock(&lock);
}

static void JNICALL started(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
  (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL);
  (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, NULL);
  (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_SINGLE_STEP, NULL);
}

static void JNICALL death(jvmtiEnv *env, JNIEnv *jni) {
  int i;
  for (i = 0; i < listed; i++) fprintf(out, "%s %ld %ld\n", list[i].line, list[i].calls, list[i].most);
  fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
  jvmtiEnv *env;
  jvmtiCapabilities capabilities = {0};
  jvmtiEventCallbacks calls = {0};
  char *comma = strrchr(options, ',');
  if (!comma || (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2)) return JNI_ERR;
  *comma = 0;
  read_list(options);
  if (!(out = fopen(comma + 1, "w"))) fail("the output cannot be written");
  capabilities.can_generate_single_step_events = 1;
  capabilities.can_generate_method_entry_events = 1;
  capabilities.can_generate_method_exit_events = 1;
  calls.SingleStep = step;
  calls.MethodEntry = entry;
  calls.MethodExit = leave;
  calls.VMInit = started;
  calls.VMDeath = death;
  if ((*env)->AddCapabilities(env, &capabilities) || (*env)->SetEventCallbacks(env, &calls, sizeof calls) ||
      (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) ||
      (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL))
    return JNI_ERR;
  return JNI_OK;
}
