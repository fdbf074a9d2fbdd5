//go:build linux

package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// goreleaser is what the tests read of .goreleaser.yaml. "goreleaser check" knows its whole schema.
type goreleaser struct {
	Builds []struct {
		ID           string
		GOOS, GOARCH []string
	}
	Archives []struct {
		IDs             []string `yaml:"ids"`
		NameTemplate    string   `yaml:"name_template"`
		Formats         []string
		FormatOverrides []struct {
			GOOS    string `yaml:"goos"`
			Formats []string
		} `yaml:"format_overrides"`
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
	}
	Release struct {
		GitHub struct{ Owner, Name string } `yaml:"github"`
		Draft  bool
	}
}

// archives returns the names of a version's archives, as goreleaser composes them, by platform.
func (g goreleaser) archives(t *testing.T, version string) map[string]string {
	t.Helper()
	if len(g.Archives) != 1 {
		t.Fatalf("%d kinds of archives: want 1", len(g.Archives))
	}
	a, names := g.Archives[0], map[string]string{}
	for _, b := range g.Builds {
		if !slices.Contains(a.IDs, b.ID) {
			continue
		}
		for _, goos := range b.GOOS {
			format := a.Formats[0]
			for _, o := range a.FormatOverrides {
				if o.GOOS == goos {
					format = o.Formats[0]
				}
			}
			for _, goarch := range b.GOARCH {
				name := strings.NewReplacer("{{ .Version }}", version, "{{ .Os }}", goos, "{{ .Arch }}", goarch).Replace(a.NameTemplate)
				if strings.Contains(name, "{{") {
					t.Fatalf("name_template %s: this test does not know all of it", a.NameTemplate)
				}
				names[goos+"/"+goarch] = name + "." + format
			}
		}
	}
	return names
}

// downloads returns the addresses from which download.sh downloads on a system and machine, as uname prints
// them, and what it prints. It gets files that are no archives.
func downloads(t *testing.T, system, machine string) (urls []string, problems string) {
	t.Helper()
	dir := t.TempDir()
	// curl writes the address down, and a list of checksums that has every archive of the release. Its
	// last arguments are the file and the address.
	script := `uname() { case $1 in -s) echo "$SYSTEM" ;; *) echo "$MACHINE" ;; esac; }
curl() {
	while [ $# -gt 2 ]; do shift; done
	echo "$2" >>"$URLS"
	for name in $NAMES; do echo "0  $name"; done >"$1"
}
. "$SCRIPT" v1.2.3 "$DIR"
`
	var names []string
	for _, name := range readGoreleaser(t).archives(t, "1.2.3") {
		names = append(names, name)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	urlFile := filepath.Join(dir, "urls")
	cmd.Env = append(cmd.Environ(), "SYSTEM="+system, "MACHINE="+machine, "URLS="+urlFile, "NAMES="+strings.Join(names, " "),
		"SCRIPT="+filepath.Join(sources, "scripts", "download.sh"), "DIR="+dir, "TMPDIR="+dir, "RELEASES=https://releases.test")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%s on %s: an archive with another checksum was installed", system, machine)
	}
	text, err := os.ReadFile(urlFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(text)), string(out)
}

func readGoreleaser(t *testing.T) (g goreleaser) {
	t.Helper()
	readYAML(t, ".goreleaser.yaml", &g)
	return g
}

// Law: on each platform of a release download.sh asks for the archive and the checksums that goreleaser
// makes, and it refuses all others.
func TestReleaseHasWhatIsDownloaded(t *testing.T) {
	g := readGoreleaser(t)
	archives := g.archives(t, "1.2.3")
	for _, c := range []struct{ system, machine, platform string }{
		{"Linux", "x86_64", "linux/amd64"}, {"Linux", "aarch64", "linux/arm64"},
		{"Darwin", "x86_64", "darwin/amd64"}, {"Darwin", "arm64", "darwin/arm64"},
		{"MINGW64_NT-10.0", "x86_64", "windows/amd64"}, {"MSYS_NT-10.0", "aarch64", "windows/arm64"},
	} {
		urls, problems := downloads(t, c.system, c.machine)
		want(t, "downloads on "+c.platform, strings.Join(urls, "\n"), "https://releases.test/v1.2.3/"+g.Checksum.NameTemplate+"\nhttps://releases.test/v1.2.3/"+archives[c.platform])
		wantIn(t, problems, archives[c.platform]+": the SHA-256 sum is ")
		delete(archives, c.platform)
	}
	want(t, "archives that nothing downloads", len(archives), 0)
	want(t, "sums", g.Checksum.Algorithm, "sha256")
	for _, c := range [][2]string{{"FreeBSD", "amd64"}, {"Linux", "riscv64"}} {
		urls, problems := downloads(t, c[0], c[1])
		want(t, "downloads on "+strings.Join(c[:], " "), len(urls), 0)
		wantIn(t, problems, "there is no release for ")
	}
	script, err := os.ReadFile(filepath.Join(sources, "scripts", "download.sh"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(script), "https://github.com/"+g.Release.GitHub.Owner+"/"+g.Release.GitHub.Name+"/releases/download")
	want(t, "published only after the attestations", g.Release.Draft, true)
}

// Law: the notices of a release have the licence of each module in this program. notices.sh fails if a module
// has none.
func TestNoticesNameEveryModule(t *testing.T) {
	cmd := exec.Command("sh", filepath.Join(sources, "scripts", "notices.sh"))
	cmd.Stderr = os.Stderr
	notices, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("this program does not know its modules")
	}
	wantIn(t, string(notices), "Copyright 2009 The Go Authors", "github.com/ajstarks/svgo", "Creative Commons Attribution 4.0")
	for _, m := range linked.Deps {
		if m.Replace == nil && !strings.Contains(string(notices), m.Path+" "+m.Version+": ") {
			t.Errorf("there is no licence of %s %s", m.Path, m.Version)
		}
	}
}
