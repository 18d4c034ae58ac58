package mapping

import (
	"strings"
	"testing"
)

func TestNumbered(t *testing.T) {
	for _, class := range strings.Fields(`
		a/Foo$1 a/Foo$1$2 a/Foo$1Local Foo$Bar$12 a/Foo$1$Inner
		a/Foo$f$1 a/Foo$f$1$invokeSuspend$$inlined$map$1$2
		a/ComposableSingletons$FooKt$lambda-1$1 a/FooKt$lambda$-12345678901$x
		a/FooKt$sam$java_lang_Runnable$0 a/FooKt$sam$i$java_util_Comparator$0 a/FooKt$sam$Runnable$7f3b
		a/-$$Lambda$Main$aBcD_e a/-$$Lambda$Main$1
		a/Foo$$ExternalSyntheticLambda0 a/Foo$$InternalSyntheticOutline$4f$0 a/Foo$$ExternalSyntheticOutline1
		a/Foo$$anonfun$bar$1 a/Foo$$anon$2 a/Foo$$Lambda$14
		a/Foo$_bar_closure1 a/Foo$_bar_closure1$_closure2 a/Foo$_main_lambda3
		clojure/core$fn__42 user$eval7$fn__8 a/Foo$AjcClosure1`) {
		if !Numbered(Identity{class, "run", "()V"}) {
			t.Errorf("%s is not numbered", class)
		}
	}
	for _, class := range strings.Fields(`
		a/Foo a/Foo1 Foo2 a/b$1/Foo a/Foo$Bar a/Foo$Bar2 a/Foo$WhenMappings a/Foo$Companion a/Foo$DefaultImpls
		a/Foo$-CC a/Foo$$serializer a/R$id a/Foo$v4 a/Sha-256 a/Base64$ a/Tuple2$mcII$sp`) {
		if Numbered(Identity{class, "run", "()V"}) {
			t.Errorf("%s is numbered", class)
		}
	}
	for _, name := range strings.Fields(`
		lambda$f$1 lambda$new$0 lambda$static$12 lambda$0 lambda$f$3f2a11$1 access$000 access$1002
		lambda$f$0$com-example-Foo $r8$lambda$aB-c_D
		f$lambda$0 f$lambda-0 f$lambda-1$lambda-0 f$local-2 f$1 getLambda-1$app_debug getLambda$-1234567890$app
		$anonfun$f$1 $anonfun$f$1$adapted loop$1 x$lzycompute$1 liftedTree1$1 $anonfun$f$default$1$2
		f_aroundBody0 f_aroundBody2$advice fn__7$g__12`) {
		if !Numbered(Identity{"a/Foo", name, "()V"}) {
			t.Errorf("%s is not numbered", name)
		}
	}
	for _, name := range strings.Fields(`
		f f1 component1 <init> <clinit> 1 copy$default f$default$1 access$getX$p access$getX$p$s1234 -$$Nest$mf
		$values box-impl f-WZ4Q5Ns f$x-1234567 $deserializeLambda$ super$1$toString this$dist$invoke$2
		apply$mcV$sp $i f$app_debug f$v2 parses-ISO-8601 getX$annotations _1`) {
		if Numbered(Identity{"a/Foo", name, "(La/Foo$1;)V"}) {
			t.Errorf("%s is numbered", name)
		}
	}
}
