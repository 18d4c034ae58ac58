def log = new File(basedir, 'build.log').text
assert log.contains('tracegen.yml:2: block: the value is missing')
assert log.contains('exit code 2; nothing was written')
assert !new File(basedir, 'target/tracegen/methodMapping.txt').exists()
assert !new File(basedir, 'target/tracegen/app').exists()
true
