// The native half of Verify: calls ART's verifier through two symbols that libart exports.
#include <jni.h>
#include <string>

namespace art {
class Thread;
class CompilerCallbacks;
namespace mirror { class Class; class Object; }
template <class T> class ObjPtr { public: uintptr_t reference; };
class Thread { public: ObjPtr<mirror::Object> DecodeJObject(jobject) const; };
namespace verifier {
enum class FailureKind { kNoFailure, kAccessChecksFailure, kSoftFailure, kHardFailure };
enum class HardFailLogMode { kLogNone, kLogVerbose, kLogWarning, kLogInternalFatal };
class ClassVerifier {
 public:
  static FailureKind VerifyClass(Thread*, ObjPtr<mirror::Class>, CompilerCallbacks*, bool allow_soft, HardFailLogMode,
                                 uint32_t api, std::string*);
};
}  // namespace verifier
}  // namespace art

// A fast native method stays runnable, as the verifier demands.
extern "C" JNIEXPORT jint JNICALL Java_Verify_verify(JNIEnv* env, jclass, jclass c, jobjectArray message) {
  art::Thread* self = reinterpret_cast<art::Thread**>(env)[1];  // the first field of ART's own JNIEnv
  art::ObjPtr<art::mirror::Class> klass{self->DecodeJObject(c).reference};
  std::string error;
  auto kind = art::verifier::ClassVerifier::VerifyClass(self, klass, nullptr, /*allow_soft=*/ false,
                                                        art::verifier::HardFailLogMode::kLogNone, 30, &error);
  if (!error.empty()) env->SetObjectArrayElement(message, 0, env->NewStringUTF(error.c_str()));
  return static_cast<jint>(kind);
}
