// What the Kotlin DSL of Gradle declares for build files, as far as the blocks of the pages need it.
import dev.tracegen.gradle.RunInstrumentedTask
import dev.tracegen.gradle.TracegenExtension
import java.io.File
import org.gradle.api.NamedDomainObjectContainer
import org.gradle.api.NamedDomainObjectProvider
import org.gradle.api.Project
import org.gradle.api.artifacts.Configuration
import org.gradle.api.artifacts.Dependency
import org.gradle.api.artifacts.dsl.DependencyHandler
import org.gradle.api.file.FileSystemLocation
import org.gradle.api.file.FileSystemLocationProperty
import org.gradle.api.provider.Property
import org.gradle.api.tasks.TaskContainer
import org.gradle.api.tasks.TaskProvider

abstract class BuildFile(project: Project) : Project by project {
    fun tracegen(configure: TracegenExtension.() -> Unit) =
        extensions.configure(TracegenExtension::class.java, configure)

    val TaskContainer.runInstrumented: TaskProvider<RunInstrumentedTask>
        get() = named("runInstrumented", RunInstrumentedTask::class.java)

    operator fun <T : Any> NamedDomainObjectProvider<T>.invoke(configure: T.() -> Unit) = configure(configure)

    operator fun <T : Any> NamedDomainObjectContainer<T>.invoke(configure: NamedDomainObjectContainer<T>.() -> Unit) =
        configure()

    fun dependencies(configure: Dependencies.() -> Unit) = Dependencies(dependencies).configure()

    fun <T : Any> Property<T>.assign(value: T?) = set(value)

    fun <T : FileSystemLocation> FileSystemLocationProperty<T>.assign(file: File?) = set(file)
}

class Dependencies(private val handler: DependencyHandler) : DependencyHandler by handler {
    operator fun Configuration.invoke(dependency: Any): Dependency? = handler.add(name, dependency)

    fun project(path: String, configuration: String) =
        handler.project(mapOf("path" to path, "configuration" to configuration))
}
