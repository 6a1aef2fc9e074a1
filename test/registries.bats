# Package managers on a fresh account: with nothing configured but the host group of
# the tool, each fetches a package over HTTPS from its registry in the test internet
# (internet/registries.py), and the package works. The home folder of the host stays
# as it was, byte for byte. Without the group nothing is fetched, and the run says
# which host was denied and how to allow it.
#
# unsanitized: the tools take longer than everything that the program does
load helpers
load internet

# The home folder of a fresh account has nothing but the project, and it is the one
# in the list of users, where Java looks. The certificates of the test internet are
# trusted as those of a company are: by variables.
setup()
{
	box_setup
	internet_mark
	rm "$HOME/.gitconfig"
	enter_account
	export SSL_CERT_FILE=$NET/ca.pem PIP_CERT=$NET/ca.pem CARGO_HTTP_CAINFO=$NET/ca.pem
	# The second one replaces a file of certificates in the machine's npmrc.
	export NODE_EXTRA_CA_CERTS=$NET/ca.pem npm_config_cafile=$NET/ca.pem
	snapshot >"$TEST_DIR/before"
}

# The list of users is mounted from this file, which is therefore written in place.
enter_account()
{
	local others

	others=$(grep -v '^me:' "$NET/etc/passwd")
	printf 'me:x:%s:%s::%s:/bin/bash\n%s\n' "$(id -u)" "$(id -g)" "$HOME" "$others" >"$NET/etc/passwd"
}

snapshot()
{
	host_snapshot "$HOME" | grep -v '^[^ ]* *\./project/\|^\./project '
}

unchanged()
{
	diff "$TEST_DIR/before" <(snapshot)
}

# fetched PATH: this test's requests to the registries had this path.
fetched()
{
	origin_requests | grep -F "203.0.113.91 GET $1 "
}

# denied HOST GROUP: the last run failed, sent nothing, and said what was denied
# and how to allow it.
denied()
{
	[ "$status" -ne 0 ]
	[[ "$stderr" == *" $1"[\ :]*"not on the allow list"*"agentbox run --allow $2 -- "* ]]
	[ -z "$(origin_requests)" ]
	[ -z "$(dns_asked)" ]
	unchanged
}

@test "registries: npm installs a package, and ci installs it again" {
	need program:npm
	echo '{ "name": "p", "version": "1.0.0", "dependencies": { "tiny": "^1.0.0" } }' >package.json
	agentbox_split run -- npm install
	denied registry.npmjs.org @npm
	agentbox_split run --allow @npm -- npm install
	[ "$status" -eq 0 ]
	fetched /tiny/-/tiny-1.0.0.tgz
	rm -r node_modules
	internet_mark
	agentbox_split run --with node -- npm ci
	[ "$status" -eq 0 ]
	# The home folder of the first run is gone, and its cache with it.
	fetched /tiny/-/tiny-1.0.0.tgz
	[ "$(node -p 'require("tiny")')" = "tiny from npm" ]
	unchanged
}

@test "registries: pip installs a package" {
	need program:pip3
	# Debian's Python wants a virtual environment or the first. Without the second pip
	# tries a denied host for a quarter of a minute.
	export PIP_BREAK_SYSTEM_PACKAGES=1 PIP_RETRIES=0
	agentbox_split run -- pip3 install tiny
	denied pypi.org @pypi
	agentbox_split run --allow @pypi -- sh -c 'pip3 install tiny && python3 -m tiny'
	[ "$status" -eq 0 ]
	[[ "$output" == *"tiny from pypi" ]]
	fetched /packages/tiny-1.0-py3-none-any.whl
	unchanged
}

@test "registries: tools follow the user's mirror, and its tokens stay outside" {
	need program:npm
	local npmrc='registry=https://me:hunter2@mirror.test/npm/
//mirror.test/npm/:_authToken=hunter2
'
	printf '%s' "$npmrc" >"$HOME/.npmrc"
	mkdir "$HOME/.m2"
	echo '<settings><servers><server><id>m</id><password>hunter2</password></server></servers><mirrors>' \
		'<mirror><id>m</id><mirrorOf>*</mirrorOf><url>https://mirror.test/maven2</url></mirror>' \
		'</mirrors></settings>' >"$HOME/.m2/settings.xml"
	mkdir -p "$HOME/.bundle" "$HOME/.nuget/NuGet"
	printf '%s\n' --- 'BUNDLE_MIRROR__ALL: "https://me:hunter2@mirror.test/gems"' \
		'BUNDLE_MIRROR__TEST: "me:hunter2"' >"$HOME/.bundle/config"
	echo '<configuration><packageSources><add key="m" value="https://me:hunter2@mirror.test/v3" /></packageSources>' \
		'<packageSourceCredentials><m><add key="ClearTextPassword" value="hunter2" /></m></packageSourceCredentials>' \
		'</configuration>' >"$HOME/.nuget/NuGet/NuGet.Config"
	echo '{ "name": "p", "version": "1.0.0", "dependencies": { "tiny": "^1.0.0" } }' >package.json
	# A script: the judge refuses to read these files in the command itself.
	echo 'cat ~/.npmrc ~/.m2/settings.xml ~/.bundle/config ~/.nuget/NuGet/NuGet.Config' >show.sh
	agentbox_split run --allow @npm --allow @maven --allow @rubygems --allow @nuget -- sh -c 'npm install >install.log 2>&1; echo "npm $?"; sh show.sh'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "npm 0" ]
	[ "${lines[1]}" = "registry=https://mirror.test/npm/" ]
	[[ "$output" == *"<mirrorOf>*</mirrorOf>"*"<url>https://mirror.test/maven2</url>"* ]]
	[[ "$output" == *'BUNDLE_MIRROR__ALL: "https://mirror.test/gems"'* ]]
	[[ "$output" == *'<add key="m" value="https://mirror.test/v3" />'* ]]
	[[ "$output" != *hunter2* ]]
	fetched /npm/tiny/-/tiny-1.0.0.tgz
	[ "$(cat "$HOME/.npmrc")" = "${npmrc%?}" ]
	# Without a group the files stay hidden, and so they do if the user says so.
	agentbox_split run -- sh show.sh
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	agentbox_split run --allow @npm --deny-read "$HOME/.npmrc" -- sh show.sh
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	# A private home has the file, too.
	mkdir -p "$HOME/.config/pip"
	printf '[global]\nindex-url = https://me:hunter2@mirror.test/pypi/simple\n' >"$HOME/.config/pip/pip.conf"
	agentbox_split run --home private --with python -- cat "$HOME/.config/pip/pip.conf"
	[ "$status" -eq 0 ]
	[ "$output" = $'[global]\nindex-url = https://mirror.test/pypi/simple' ]
	agentbox_split run --home private -- cat "$HOME/.config/pip/pip.conf"
	[ "$status" -ne 0 ]
}

@test "registries: npm follows the mirror of settings that a variable names, and not of a project's" {
	need program:npm
	printf '%s\n' 'registry=https://me:hunter2@mirror.test/npm/' '//mirror.test/npm/:_authToken=hunter2' >"$HOME/work.npmrc"
	echo '{ "name": "p", "version": "1.0.0", "dependencies": { "tiny": "^1.0.0" } }' >package.json
	snapshot >"$TEST_DIR/before"
	export NPM_CONFIG_USERCONFIG=$HOME/work.npmrc
	agentbox_split run --allow @npm -- sh -c 'npm install >&2; cat ~/work.npmrc'
	[ "$status" -eq 0 ]
	[ "$output" = "registry=https://mirror.test/npm/" ]
	fetched /npm/tiny/-/tiny-1.0.0.tgz
	unchanged
	# A project could name any host.
	rm -r node_modules package-lock.json
	cp "$HOME/work.npmrc" .npmrc
	internet_mark
	NPM_CONFIG_USERCONFIG=.npmrc agentbox_split run --allow @npm -- npm install
	denied mirror.test mirror.test
}

@test "registries: pip and npm follow the mirror of settings of which the box sees a part" {
	need program:npm
	need program:pip3
	mkdir -p "$HOME/.config/pip"
	# Without the last line pip tries a denied host for a quarter of a minute.
	printf '%s\n' '[global]' '# hunter2' 'index_url: https://me:hunter2@mirror.test/pypi/simple?k=hunter2' \
		'proxy = http://joe:hunter2@proxy.test:3128' 'break-system-packages = true' 'retries = 0' >"$HOME/.config/pip/pip.conf"
	printf '%s\n' 'registry = "https://me:hunter2@mirror.test/npm/?k=hunter2"' 'https-proxy=http://proxy.test' \
		'//mirror.test/npm/:_authToken=${TOKEN}' >"$HOME/.npmrc"
	echo '{ "name": "p", "version": "1.0.0", "dependencies": { "tiny": "^1.0.0" } }' >package.json
	agentbox_split run --with node,python -- sh -c 'npm install >&2 && pip3 install tiny >&2 && python3 -m tiny
		cat ~/.config/pip/pip.conf'
	[[ "$output" != *hunter2* ]]
	[ "$status" -eq 0 ]
	[[ "$output" == "tiny from pypi"*"index-url = https://mirror.test/pypi/simple"* ]]
	fetched /npm/tiny/-/tiny-1.0.0.tgz
	fetched /pypi/simple/tiny/
}

@test "registries: cargo follows the mirror of settings of which the box sees a part" {
	need runs:cargo
	make_crate
	[[ "$(cargo --version)" != "cargo 1."[0-6]?.* ]] || export RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_SPARSE_REGISTRY=true
	mkdir "$HOME/.cargo"
	printf '%s\n' '[source.crates-io]' 'replace-with = "m" # hunter2' '[source.m]' \
		'registry = "sparse+https://me:hunter2@mirror.test/crates/"' '[registries.corp]' \
		'index = "https://corp.test/?hunter2"' 'token = "hunter2"' '[http]' 'proxy = "joe:hunter2@proxy.test:3128"' \
		>"$HOME/.cargo/config.toml"
	agentbox_split run --allow @crates -- sh -c 'cargo fetch && cargo run -q --offline; cat ~/.cargo/config.toml'
	[[ "$output" != *hunter2* ]]
	[ "$status" -eq 0 ]
	[[ "$output" == "tiny from crates.io"*'source.m.registry = "sparse+https://mirror.test/crates/"'* ]]
	fetched /crates/config.json
}

# A program that needs a crate.
make_crate()
{
	mkdir src
	printf '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2018"\n' >Cargo.toml
	printf '[dependencies]\ntiny = "1"\n' >>Cargo.toml
	echo 'fn main() { println!("{}", tiny::say()); }' >src/main.rs
}

@test "registries: cargo fetches a crate and builds with it" {
	need runs:cargo
	make_crate
	# Cargo 1.70 and later have the index of crates in files. This makes an older one
	# do the same.
	[[ "$(cargo --version)" != "cargo 1."[0-6]?.* ]] || export RUSTC_BOOTSTRAP=1 \
		CARGO_UNSTABLE_SPARSE_REGISTRY=true CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse
	agentbox_split run -- cargo fetch
	denied index.crates.io @crates
	agentbox_split run --allow @crates -- sh -c 'cargo fetch && cargo run -q --offline'
	[ "$status" -eq 0 ]
	[ "$output" = "tiny from crates.io" ]
	fetched /crates/tiny/1.0.0/download
	unchanged
}

@test "registries: cargo with the index of crates in a repository" {
	local index=$NET/keys/crates.io-index file

	need runs:cargo
	make_crate
	git init -q "$index"
	for file in config.json ti/ny/tiny; do
		inside curl -sSf --cacert "$NET/ca.pem" --create-dirs -o "$index/$file" "https://index.crates.io/$file"
	done
	git -C "$index" add .
	git -C "$index" -c user.name=T -c user.email=t@example.com commit -qm crates
	internet_mark
	# Cargo before 1.70 does it anyway.
	export CARGO_REGISTRIES_CRATES_IO_PROTOCOL=git
	agentbox_split run --allow @crates -- cargo fetch
	denied github.com @github
	agentbox_split run --allow @crates --allow @github -- cargo fetch
	[ "$status" -eq 0 ]
	fetched /crates/tiny/1.0.0/download
	unchanged
}

@test "registries: go builds with a module" {
	need program:go
	printf 'module p\n\ngo 1.18\n\nrequire example.com/tiny v1.0.0\n' >go.mod
	printf 'package main\n\nimport "example.com/tiny"\n\nfunc main() { println(tiny.Say()) }\n' >main.go
	# As in a project that was cloned. Without it go asks sum.golang.org, which
	# signs its answers.
	cp "$NET/go.sum" .
	agentbox_split run -- go build
	denied proxy.golang.org @go
	agentbox_split run --allow @go -- go build
	[ "$status" -eq 0 ]
	[ "$(./p 2>&1)" = "tiny from go" ]
	fetched /example.com/tiny/@v/v1.0.0.zip
	unchanged
}

# What makes a short life of a Java machine cheaper.
JAVA="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# What the registry offers as the plugins of mvn and as the package.
compile_plugins()
{
	mkdir "$NET/maven" plugins
	echo 'public class Tiny { public static String say() { return "tiny from maven"; } }' >plugins/Tiny.java
	# shellcheck disable=SC2086
	javac ${JAVA//-XX/-J-XX} -d "$NET/maven" -cp "$(echo /usr/share/maven/lib/maven-plugin-api*.jar)" \
		"$ROOT/test/internet/Step.java" plugins/Tiny.java
	rm -r plugins
	# A file of this type is read without its password.
	# shellcheck disable=SC2086
	keytool ${JAVA//-XX/-J-XX} -importcert -noprompt -file "$NET/ca.pem" -keystore "$NET/maven/trusted" -storetype JKS \
		-storepass changeit
}

@test "registries: mvn packages with a dependency" {
	need program:mvn
	need program:javac
	need path:/usr/share/maven/lib
	compile_plugins
	export MAVEN_OPTS="-Djavax.net.ssl.trustStore=$NET/maven/trusted $JAVA"
	mkdir -p src/main/java
	cat >pom.xml <<-'XML'
	<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>p</artifactId><version>1</version>
	<dependencies><dependency><groupId>com.example</groupId><artifactId>tiny</artifactId><version>1.0</version></dependency></dependencies>
	</project>
	XML
	echo 'class Main { public static void main(String[] words) { System.out.println(Tiny.say()); } }' \
		>src/main/java/Main.java
	agentbox_split run -- mvn -q package
	denied repo.maven.apache.org repo.maven.apache.org
	agentbox_split run --allow @maven -- sh -c '
		mvn -q package && java '"$JAVA"' -cp "target/p-1.jar:$(find ~/.m2 -name tiny-1.0.jar)" Main'
	[ "$status" -eq 0 ]
	[[ "$output" == *"tiny from maven" ]]
	fetched /maven2/com/example/tiny/1.0/tiny-1.0.jar
	[ -s target/p-1.jar ]
	unchanged
}
