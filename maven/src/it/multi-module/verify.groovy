def mapping = new File(basedir, 'app/target/tracegen/methodMapping.txt').text
assert mapping.contains('it.app.App main')
assert mapping.contains('it.lib.Lib twice')
assert !new File(basedir, 'lib/target/tracegen').exists()
assert (new File(basedir, 'app/target/tracegen/app').list() as Set) ==
    ['app-1.0.jar', 'lib-1.0.jar', 'tracegen-runtime.jar'] as Set
assert !new File(basedir, 'build.log').text.contains('not marked as thread-safe')
true
