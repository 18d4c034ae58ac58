// The native half of Steps, against the headers of ART's source package: counts the instructions that calls of methods
// execute in the interpreter, as the agent of package steps does on HotSpot, and leaves out what that leaves out.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "art_method-inl.h"
#include "dex/code_item_accessors-inl.h"
#include "dex/dex_instruction-inl.h"
#include "instrumentation.h"
#include "mirror/class-inl.h"
#include "runtime.h"
#include "scoped_thread_state_change-inl.h"
#include "thread-inl.h"
#include "thread_list.h"

namespace {

struct Counted {
  long calls = 0, most = 0;
};

struct Known {
  Counted* counted;  // null for a method that is not asked for
  bool hidden;
};

struct Frame {
  art::ArtMethod* method;
  Known known;
  long start;
};

std::mutex lock;
std::unordered_map<std::string, Counted> asked;
std::unordered_map<art::ArtMethod*, Known> known;

thread_local long steps;
thread_local int hidden;
thread_local std::vector<Frame> frames;

void Fail(const char* what) {
  fprintf(stderr, "steps: %s\n", what);
  exit(3);
}

bool IsOfThrowable(const std::string& type) {
  return type.rfind("java/lang/", 0) == 0 && (type.find("Exception") != std::string::npos ||
      type.find("Throwable") != std::string::npos || type.find("Error") != std::string::npos);
}

Known KnownOf(art::ArtMethod* method) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = known.find(method);
  if (found != known.end()) return found->second;
  std::string type = method->GetDeclaringClassDescriptor(), name = method->GetName();
  type = type.substr(1, type.size() - 2);
  auto counted = asked.find(type + " " + name + " " + method->GetSignature().ToString());
  Known k{counted == asked.end() ? nullptr : &counted->second,
          name == "<clinit>" || name == "loadClass" || (name == "<init>" && IsOfThrowable(type))};
  known[method] = k;
  return k;
}

class Listener : public art::instrumentation::InstrumentationListener {
 public:
  void MethodEntered(art::Thread*, art::Handle<art::mirror::Object>, art::ArtMethod* method, uint32_t) override {
    Known k = KnownOf(method);
    frames.push_back({method, k, steps});
    hidden += k.hidden;
  }
  using art::instrumentation::InstrumentationListener::MethodExited;
  void MethodExited(art::Thread*, art::Handle<art::mirror::Object>, art::ArtMethod* method, uint32_t,
                    art::instrumentation::OptionalFrame, art::JValue&) override { Left(method); }
  void MethodUnwind(art::Thread*, art::Handle<art::mirror::Object>, art::ArtMethod* method, uint32_t) override {
    Left(method);
  }
  // A call and a handler get their result by an instruction of their own, which they do not need in class files.
  void DexPcMoved(art::Thread*, art::Handle<art::mirror::Object>, art::ArtMethod* method, uint32_t pc) override {
    if (hidden != 0) return;
    art::Instruction::Code op = method->DexInstructions().InstructionAt(pc).Opcode();
    if (op < art::Instruction::MOVE_RESULT || op > art::Instruction::MOVE_EXCEPTION) steps++;
  }
  void FieldRead(art::Thread*, art::Handle<art::mirror::Object>, art::ArtMethod*, uint32_t, art::ArtField*) override {}
  using art::instrumentation::InstrumentationListener::FieldWritten;
  void FieldWritten(art::Thread*, art::Handle<art::mirror::Object>, art::ArtMethod*, uint32_t, art::ArtField*,
                    const art::JValue&) override {}
  void ExceptionThrown(art::Thread*, art::Handle<art::mirror::Throwable>) override {}
  void ExceptionHandled(art::Thread*, art::Handle<art::mirror::Throwable>) override {}
  void Branch(art::Thread*, art::ArtMethod*, uint32_t, int32_t) override {}
  void WatchedFramePop(art::Thread*, const art::ShadowFrame&) override {}

 private:
  void Left(art::ArtMethod* method) {
    if (frames.empty()) return;  // entered before the listener was there
    Frame f = frames.back();
    frames.pop_back();
    if (f.method != method) Fail("a frame was lost");
    hidden -= f.known.hidden;
    if (f.known.counted == nullptr || hidden != 0) return;
    std::lock_guard<std::mutex> guard(lock);
    f.known.counted->calls++;
    f.known.counted->most = std::max(f.known.counted->most, steps - f.start);
  }
};

std::string Text(JNIEnv* env, jstring s) {
  const char* chars = env->GetStringUTFChars(s, nullptr);
  std::string text = chars;
  env->ReleaseStringUTFChars(s, chars);
  return text;
}

}  // namespace

extern "C" JNIEXPORT void JNICALL Java_Steps_start(JNIEnv* env, jclass, jstring list) {
  std::ifstream in(Text(env, list));
  for (std::string line; std::getline(in, line);) asked[line];
  art::ScopedSuspendAll suspended("steps");
  using art::instrumentation::Instrumentation;
  art::Runtime::Current()->GetInstrumentation()->AddListener(new Listener(),
      Instrumentation::kMethodEntered | Instrumentation::kMethodExited | Instrumentation::kMethodUnwind |
      Instrumentation::kDexPcMoved);
}

extern "C" JNIEXPORT void JNICALL Java_Steps_write(JNIEnv* env, jclass, jstring file) {
  std::lock_guard<std::mutex> guard(lock);
  std::ofstream out(Text(env, file));
  for (auto& [line, c] : asked) out << line << " " << c.calls << " " << c.most << "\n";
  if (!out.flush()) Fail("the output cannot be written");
}
