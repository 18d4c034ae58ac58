package mapping

import "testing"

// TestSourceOf compares with what the sources of these names are: kotlinc 1.9 and 2.2, javac 17.
func TestSourceOf(t *testing.T) {
	for _, test := range []struct{ class, name, want string }{
		{"a/Feed$load$1", "invokeSuspend", "a/Feed.load{coroutine 1}"},
		{"a/Feed$load$2$1", "invoke", "a/Feed.load{lambda 2.1}"},
		{"a/Feed$load$2$job$1", "invokeSuspend", "a/Feed.load{coroutine 2.job.1}"},
		{"a/Feed$Companion$load$1", "invokeSuspend", "a/Feed$Companion.load{coroutine 1}"},
		{"a/FeedKt$load$builder$1", "getItem$app", "a/FeedKt.load{builder.1}.getItem$app"},
		{"a/Feed$Inner$Deep$load$1", "invoke", "a/Feed$Inner$Deep.load{lambda 1}"},
		{"a/Feed", "load$save$9", "a/Feed.load{save$9}"},
		{"a/FeedKt$main$1", "invoke", "a/FeedKt.main{lambda 1}"},
		{"a/ScreenKt$Screen$1", "invoke", "a/ScreenKt.Screen{lambda 1}"},
		{"a/Feed$items$$inlined$map$1$2", "emit", "a/Feed.items{lambda inlined.map.1.2}"},
		{"a/Feed$load-a1B2c3D$2", "invokeSuspend", "a/Feed.load{coroutine 2}"},
		{"a/Feed$load$1", "run", "a/Feed.load{1}.run"},
		{"a/Feed", "load$lambda$1", "a/Feed.load{lambda 1}"},
		{"a/Feed", "load$lambda$1$lambda$0", "a/Feed.load{lambda 1.0}"},
		{"a/Feed", "load$lambda-1$lambda-0", "a/Feed.load{lambda 1.0}"},
		{"a/Feed", "load_a1B2c3D$lambda$0", "a/Feed.load_a1B2c3D{lambda 0}"},
		{"a/Feed", "lambda$load$12", "a/Feed.load{lambda 12}"},
		{"a/Feed", "lambda$load$1$a-Feed", "a/Feed.load{lambda 1}"},
		{"a/Feed", "lambda$new$0", "a/Feed.<init>{lambda 0}"},
		{"a/Feed", "lambda$static$0", "a/Feed.<clinit>{lambda 0}"},
		{"a/Feed", "load$default", "a/Feed.load{default}"},
		{"a/Feed", "load-a1B2c3D$default", "a/Feed.load{default}"},
		{"a/Feed", "load$app_debug", "a/Feed.load{app_debug}"},
		{"a/Feed", "load$save", "a/Feed.load{save}"},
		{"a/Feed", "load$save$lambda$0", "a/Feed.load{lambda 0}"},
		{"a/Feed", "access$load", "a/Feed.load{access}"},
		{"a/Feed", "access$load-a1B2c3D", "a/Feed.load{access}"},
		{"a/Feed", "access$getX$p", "a/Feed.getX{access}"},
		{"a/Feed", "load-a1B2c3D", "a/Feed.load"},
		{"a/UserId", "toString-impl", "a/UserId.toString"},
		{"a/Api$DefaultImpls", "load", "a/Api.load"},
		{"a/Api$DefaultImpls", "load$default", "a/Api.load{default}"},

		{"a/ComposableSingletons$FeedKt$lambda-1$1", "invoke", "a/FeedKt.<anonymous>{lambda 1}"},
		{"a/ComposableSingletons$FeedKt$lambda$-12$1", "invoke", "a/FeedKt.<anonymous>{lambda 12}"},
		{"a/ComposableSingletons$FeedKt", "lambda_1$lambda$0", "a/FeedKt.<anonymous>{lambda 1}"},
		{"a/ComposableSingletons$FeedKt", "lambda__1977638811$lambda$0", "a/FeedKt.<anonymous>{lambda 1977638811}"},

		{"a/ComposableSingletons$FeedKt", "<clinit>", ""},
		{"a/ComposableSingletons$FeedKt", "invoke", ""},
		{"a/Feed", "load", ""},
		{"a/Feed$Inner", "load", ""},
		{"a/Feed$1", "run", ""},
		{"a/Feed$1", "invoke", ""},
		{"a/Map$Entry$1", "getKey", ""},
		{"a/Feed$1Local", "run", ""},
		{"a/Foo$$anon$1", "apply", ""},
		{"a/$1$2", "f", ""},
		{"$", "$", ""},
		{"$$", "-", ""},
		{"a/Feed", "access$100", ""},
		{"a/Feed", "lambda$0", ""},
		{"a/Feed", "super$load", ""},
		{"a/Feed", "$anonfun$load$1", ""},
		{"a/Feed", "load$default$1", ""},
		{"a/Feed", "$lambda$", ""},
		{"a/Feed", "$default", ""},
		{"a/Feed", "-impl", ""},
		{"", "", ""},
	} {
		s, ok := SourceOf(Identity{Class: test.class, Name: test.name})
		got := ""
		if ok {
			got = s.String()
		}
		if got != test.want {
			t.Errorf("SourceOf(%s.%s) = %q, want %q", test.class, test.name, got, test.want)
		}
	}
}

func FuzzSourceOf(f *testing.F) {
	f.Add("a/Feed$load$$inlined$map$1", "invokeSuspend")
	f.Add("a/$$1", "lambda$$1$x")
	f.Fuzz(func(t *testing.T, class, name string) {
		s, ok := SourceOf(Identity{Class: class, Name: name})
		if ok && s.Name == "" && name != "" {
			t.Errorf("%q.%q has a function without a name", class, name)
		}
	})
}
