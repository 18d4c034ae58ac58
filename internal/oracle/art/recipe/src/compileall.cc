// The native half of CompileAll, against the headers of ART's source package.
#include <string>

#include "art_method-inl.h"
#include "class_linker-inl.h"
#include "handle_scope-inl.h"
#include "jit/jit.h"
#include "mirror/class-inl.h"
#include "runtime.h"
#include "scoped_thread_state_change-inl.h"
#include "thread-inl.h"

extern "C" JNIEXPORT void JNICALL Java_CompileAll_verify(JNIEnv* env, jclass, jclass c) {
  art::ScopedObjectAccess soa(env);
  art::StackHandleScope<1> scope(soa.Self());
  art::Handle<art::mirror::Class> k(scope.NewHandle(soa.Decode<art::mirror::Class>(c)));
  if (!k->IsVerified()) art::Runtime::Current()->GetClassLinker()->VerifyClass(soa.Self(), k);
  soa.Self()->ClearException();
}

// A class that the verifier has refused cannot be compiled, and its methods say so.
extern "C" JNIEXPORT jstring JNICALL Java_CompileAll_compile(JNIEnv* env, jclass, jclass c, jintArray compiled) {
  std::string rows;
  jint count;
  env->GetIntArrayRegion(compiled, 0, 1, &count);
  {
    art::ScopedObjectAccess soa(env);
    art::Thread* self = soa.Self();
    art::jit::Jit* jit = art::Runtime::Current()->GetJit();
    art::StackHandleScope<1> scope(self);
    art::Handle<art::mirror::Class> k(scope.NewHandle(soa.Decode<art::mirror::Class>(c)));
    for (art::ArtMethod& m : k->GetDeclaredMethods(art::kRuntimePointerSize)) {
      if (!m.IsInvokable() || m.IsNative() || m.IsProxyMethod()) continue;
      const char* why = nullptr;
      if (k->IsErroneous()) why = "not verified";
      else if (!m.IsCompilable()) why = "not compilable";
      else if (!jit->CompileMethod(&m, self, /*baseline=*/ false, /*osr=*/ false, /*prejit=*/ true)) why = "bailout";
      self->ClearException();
      if (why == nullptr) count++;
      else rows += std::string(why) + "\t" + m.PrettyMethod() + "\n";
    }
  }
  env->SetIntArrayRegion(compiled, 0, 1, &count);
  return env->NewStringUTF(rows.c_str());
}
