import java.util.jar.JarFile

def app = new File(basedir, 'target/tracegen/app')
def dependency = new File(app, 'org.eclipse.equinox.common-3.18.0.jar')
assert (app.list() as Set) == ['dependencies-1.0.jar', dependency.name, 'tracegen-runtime.jar'] as Set
def original = new File(localRepositoryPath,
    'org/eclipse/platform/org.eclipse.equinox.common/3.18.0/org.eclipse.equinox.common-3.18.0.jar')
def signatures = { File jar -> new JarFile(jar).withCloseable { it.entries().findAll { e -> e.name.endsWith('.SF') } } }
assert signatures(original) : 'the dependency must be a signed jar, or this test shows nothing'
assert !signatures(dependency)
assert new File(basedir, 'target/tracegen/methodMapping.txt').text.contains('org.eclipse.core.runtime.Path ')

def java = new File(System.getProperty('java.home'), 'bin/java').path
def recording = new File(basedir, 'target/app.tgd')
def process = new ProcessBuilder(java, "-Dtracegen.output=$recording", '-cp', app.path + File.separator + '*', 'it.Main')
    .redirectErrorStream(true).start()
def text = process.inputStream.text
assert process.waitFor() == 0 : text
assert text.contains('3') && recording.length() > 0
true
