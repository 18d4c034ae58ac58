def mapping = new File(basedir, 'app/target/tracegen/methodMapping.txt').text
assert mapping.contains('it.app.App main')
assert mapping.contains('it.lib.Lib twice')
assert !new File(basedir, 'lib/target/tracegen').exists()
assert (new File(basedir, 'app/target/tracegen/app').list() as Set) ==
    ['app-1.0.jar', 'lib-1.0.jar', 'tracegen-runtime.jar'] as Set

// The second build instrumented the jar of the module alone.
assert (new File(basedir, 'app/target/own/app').list() as Set) == ['app-1.0.jar', 'tracegen-runtime.jar'] as Set
def own = new File(basedir, 'app/target/own/methodMapping.txt').text
assert own.contains('it.app.App main') && !own.contains('it.lib.Lib')
assert !new File(basedir, 'build.log').text.contains('not marked as thread-safe')
true
