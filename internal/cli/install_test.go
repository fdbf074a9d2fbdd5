//go:build linux

package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// aRelease is the release that the tests download, and says what it is.
const aRelease = "v1.2.3"

var ofThisMachine = "lockstorm_1.2.3_linux_" + runtime.GOARCH + ".tar.gz"

// tarball returns an archive with a program that prints a text.
func tarball(t *testing.T, says string) string {
	t.Helper()
	program := "#!/bin/sh\necho " + says + "\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"LICENSE": "free", "lockstorm": program} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sums are the checksums of a release with one archive.
func sums(archive string) string {
	other := strings.Repeat("0", 64)
	return fmt.Sprintf("%s  x%s\n%x  %s\n%s  %[2]s.sbom\n", other, ofThisMachine, sha256.Sum256([]byte(archive)), ofThisMachine, other)
}

// published serves the files of a release on loopback. Of a file whose text ends with cutOff, the
// connection is closed before the end. It returns the address for RELEASES.
func published(t *testing.T, files map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		text, there := files[file]
		if version != aRelease || !there {
			http.NotFound(w, r)
			return
		}
		whole := strings.TrimSuffix(text, cutOff)
		w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
		if whole != text {
			whole = whole[:len(whole)/2]
		}
		_, _ = w.Write([]byte(whole))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const cutOff = "\x00cut off"

// Law: with a release behind the @, or as its input, the action installs the program of that release and
// needs no Go; it installs nothing that differs from the release's checksums.
func TestActionInstallsARelease(t *testing.T) {
	sound := tarball(t, "the released program")
	for _, c := range []struct {
		name, version, ref string
		files              map[string]string
		fails              string // "": it does not
	}{
		{name: "the release behind the @", ref: aRelease, files: map[string]string{"checksums.txt": sums(sound), ofThisMachine: sound}},
		{name: "the release of the input", version: aRelease, ref: "0123456789abcdef", files: map[string]string{"checksums.txt": sums(sound), ofThisMachine: sound}},
		{name: "another archive", ref: aRelease, files: map[string]string{"checksums.txt": sums(sound), ofThisMachine: tarball(t, "evil")}, fails: ofThisMachine + ": the SHA-256 sum is "},
		{name: "an interrupted download", ref: aRelease, files: map[string]string{"checksums.txt": sums(sound), ofThisMachine: sound + cutOff}, fails: ofThisMachine + " cannot be downloaded"},
		{name: "no archive", ref: aRelease, files: map[string]string{"checksums.txt": sums(sound)}, fails: ofThisMachine + " cannot be downloaded"},
		{name: "an archive without a checksum", ref: aRelease, files: map[string]string{"checksums.txt": "0  other\n", ofThisMachine: sound}, fails: "checksums.txt does not list " + ofThisMachine},
		{name: "no such release", ref: "v9.9.9", files: map[string]string{"checksums.txt": sums(sound)}, fails: "v9.9.9/checksums.txt cannot be downloaded"},
		{name: "no release as input", version: "newest", fails: "version newest: want a release, such as v1.2.3"},
		{name: "a branch, and no Go", ref: "main", fails: "main is not a release, so Lockstorm has to be built, and there is no go command"},
		{name: "a checkout, and no Go", fails: "this checkout is not a release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := readAction(t)
			temp := t.TempDir()
			out, err := a.step(t, "install", map[string]string{"version": c.version},
				map[string]string{"github.action_path": sources, "github.action_ref": c.ref, "runner.temp": temp},
				"RELEASES="+published(t, c.files), "PATH="+pathWithoutGo(t), "TMPDIR="+t.TempDir())
			program := filepath.Join(temp, "lockstorm", "lockstorm")
			if c.fails != "" {
				wantIn(t, out, c.fails)
				if _, there := os.Stat(program); err == nil || there == nil {
					t.Errorf("%v, %v: want a failure, and nothing installed", err, there)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			info, err := os.Stat(program)
			if err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("%v: want a program", err)
			}
		})
	}
}

// pathWithoutGo is a PATH with what the action's runner has, and without Go.
func pathWithoutGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "bash", "curl", "tar", "gzip", "awk", "cut", "sha256sum", "uname", "mktemp", "rm", "mv", "mkdir"} {
		for _, from := range []string{"/usr/bin", "/bin"} {
			if _, err := os.Stat(filepath.Join(from, name)); err == nil {
				if err := os.Symlink(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	return dir
}
