import java.io.File;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.apache.maven.plugin.Mojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.logging.Log;

// A stand-in for the plugins that "mvn package" fetches (registries.py): it compiles the
// sources and makes the jar; the other goals have nothing to do.
public class Step implements Mojo {
	String goal;
	List<String> classpath;
	File sources, classes, jar;
	Log log;

	public void setLog(Log log) {
		this.log = log;
	}

	public Log getLog() {
		return log;
	}

	public void execute() throws MojoExecutionException {
		try {
			if (goal.equals("compile"))
				compile();
			else if (goal.equals("jar"))
				pack();
		} catch (java.io.IOException e) {
			throw new MojoExecutionException(goal, e);
		}
	}

	static List<Path> below(File top) throws java.io.IOException {
		try (Stream<Path> found = Files.walk(top.toPath())) {
			return found.filter(Files::isRegularFile).collect(Collectors.toList());
		}
	}

	void compile() throws java.io.IOException, MojoExecutionException {
		List<String> words = new ArrayList<>(List.of("-d", classes.toString(), "-cp",
				String.join(File.pathSeparator, classpath)));

		classes.mkdirs();
		below(sources).forEach(path -> words.add(path.toString()));
		if (ToolProvider.getSystemJavaCompiler().run(null, null, null, words.toArray(new String[0])) != 0)
			throw new MojoExecutionException("the sources do not compile");
	}

	void pack() throws java.io.IOException {
		try (OutputStream file = Files.newOutputStream(jar.toPath());
				JarOutputStream out = new JarOutputStream(file)) {
			for (Path path : below(classes)) {
				out.putNextEntry(new JarEntry(classes.toPath().relativize(path).toString()));
				Files.copy(path, out);
			}
		}
	}
}
