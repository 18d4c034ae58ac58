def log = new File(basedir, 'build.log').text
assert new File(basedir, 'target/tracegen/methodMapping.txt').isFile()
assert log =~ /cannot resolve dev.tracegen:tracegen:exe:[a-z]+-[a-z0-9_]+:0.0.0-absent/
assert log.contains('run it once without -o') && log.contains('-Dtracegen.executable')
assert log =~ /the parameter executable: .*absent does not exist/
true
