import java.util.jar.JarFile

def log = new File(basedir, 'build.log').text
assert log.count('BUILD SUCCESS') == 3
// The compiler did not compile again, because nothing that it reads or writes has changed.
assert log.count('Compiling 1 source file with javac [debug release 8] to target/classes') == 1
def runtime = 'dev/tracegen/runtime/AppMethodBeat'
assert !new File(basedir, 'target/classes/it/Main.class').getText('ISO-8859-1').contains(runtime)
assert !new File(basedir, 'target/classes/dev').exists()
new JarFile(new File(basedir, 'target/classes-1.0.jar')).withCloseable { jar ->
  assert jar.getInputStream(jar.getEntry('it/Main.class')).getText('ISO-8859-1').contains(runtime)
  assert jar.getEntry(runtime + '.class') != null
}
assert new File(basedir, 'target/tracegen/methodMapping.txt').text.contains('it.Main work (I)I')
assert log.contains('the classes are instrumented already')
assert log.contains('remove one of the two goals from the module')

def recording = new File(basedir, 'target/app.tgd')
def java = new File(System.getProperty('java.home'), 'bin/java').path
def process = new ProcessBuilder(java, "-Dtracegen.output=$recording", '-cp',
    new File(basedir, 'target/classes-1.0.jar').path, 'it.Main').redirectErrorStream(true).start()
def text = process.inputStream.text
assert process.waitFor() == 0 : text
assert recording.length() > 0
true
