# Gets Debian's packages that packages.sha256 lists, checks them, and unpacks the binary ones into unpacked.
# The lists of apt are its own, as those of a machine seldom have sources.
. "$recipe/prelude.sh"
mkdir -p lists/partial files unpacked
for from in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
	[ -s "$from" ] || continue
	to=$PWD/sources${from##*/debian}
	sed -E 's/^Types:.*/Types: deb deb-src/; s/^deb (.*)/&\ndeb-src \1/' "$from" >"$to"
	break
done
apt="apt-get -qq -o Dir::Etc::sourcelist=$to -o Dir::Etc::sourceparts=/dev/null -o Dir::State::Lists=$PWD/lists
	-o Dir::Cache=$PWD -o APT::Sandbox::User=root"
$apt update
packages=$(sed 's/^[0-9a-f]*  //; s/_/=/; s/_[a-z0-9]*\.deb$/.deb/; s/%3a/:/' "$recipe/packages.sha256")
cd files
$apt download $(sed -n 's/\.deb$//p' <<<"$packages")
for source in $(sed -n 's/\.dsc$//p' <<<"$packages"); do $apt source --download-only "$source"; done
sha256sum --quiet --strict -c "$recipe/packages.sha256"
for file in *.deb; do dpkg -x "$file" ../unpacked; done
cd ..
rm -rf lists archives *.bin
