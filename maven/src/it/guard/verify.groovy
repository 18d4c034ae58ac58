def log = new File(basedir, 'build.log').text
assert log.contains('tracegen instrument: growth: the classes grow')
assert new File(basedir, 'target/tracegen/methodMapping.txt').isFile()
assert new File(basedir, 'target/tracegen/app/guard-1.0.jar').isFile()
true
