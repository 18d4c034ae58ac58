def directory = new File(basedir, 'target/tracegen')
def mapping = new File(directory, 'methodMapping.txt')
assert mapping.text.contains('it.Main work (I)I')
assert new File(directory, 'report.json').isFile()
assert new File(directory, 'skipped.tsv').isFile()
assert (new File(directory, 'app').list() as Set) == ['simple-jar-1.0.jar', 'tracegen-runtime.jar'] as Set

// The mapping and the instrumented jar are installed with the project.
def installed = new File(localRepositoryPath, 'dev/tracegen/it/simple-jar/1.0')
assert new File(installed, 'simple-jar-1.0-tracegen-mapping.txt').text == mapping.text
assert new File(installed, 'simple-jar-1.0-instrumented.jar').bytes == new File(directory, 'app/simple-jar-1.0.jar').bytes
assert new File(installed, 'simple-jar-1.0.jar').bytes != new File(directory, 'app/simple-jar-1.0.jar').bytes

// The binary was run where Maven's resolver had put it.
def binaries = new File(localRepositoryPath, "dev/tracegen/tracegen/$version").listFiles().findAll { it.name.endsWith('.exe') }
assert binaries.size() == 1 && binaries[0].canExecute()
assert !new File(directory, 'bin').exists()

// The instrumented program writes a recording, and the binary reads it.
def recording = new File(basedir, 'target/app.tgd')
def run = { List command ->
  def process = new ProcessBuilder(command.collect { it.toString() }).redirectErrorStream(true).directory(basedir).start()
  def text = process.inputStream.text
  assert process.waitFor() == 0 : "$command: $text"
  text
}
def java = new File(System.getProperty('java.home'), 'bin/java').path
assert run([java, "-Dtracegen.output=$recording", '-cp', new File(directory, 'app').path + File.separator + '*',
    'it.Main']).contains('sum ')
def report = run([binaries[0].path, 'analyze', recording.path, '--mapping', mapping.path, '--format', 'table'])
assert report =~ /it\.Main.work/

// The second build found everything unchanged: it wrote no output again.
def log = new File(basedir, 'build.log').text
assert log.count('BUILD SUCCESS') == 2
assert log.contains('1 inputs known') || log.contains('2 inputs known')
assert log.contains('2 outputs left alone, 0 copied, 0 written')
true
