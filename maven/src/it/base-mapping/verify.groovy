def ids = { File f ->
  f.readLines().findAll { !it.startsWith('#') }.collectEntries { line -> [line.split(',', 3)[2], line.split(',')[0]] }
}
def first = ids(new File(localRepositoryPath, 'dev/tracegen/it/base-mapping/1.0/base-mapping-1.0-tracegen-mapping.txt'))
def second = ids(new File(basedir, 'target/tracegen/methodMapping.txt'))
assert first.size() > 2
// Compact IDs are kept only because of the base: without one, the second version would number its methods by hash.
first.each { method, id -> assert second[method] == id }
def log = new File(basedir, 'build.log').text
assert log.contains('absent.txt')
true
