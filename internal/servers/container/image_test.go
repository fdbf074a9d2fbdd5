//go:build linux

package container

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// An image that does not exist, has no Redis, or has one that does not start or is not fit
// is reported in one line, or by the end of a log. Nothing is left.
func TestContainerOfABadImage(t *testing.T) {
	testkit.NeedEngine(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	e, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := e.ownImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scratch := func(name, lines string, programs ...program) string {
		return build(t, e, name, "FROM scratch\n"+lines, programs...)
	}
	onRedis := func(name, lines string, programs ...program) string {
		return build(t, e, name, "FROM "+own+"\n"+lines, programs...)
	}
	const shell = `ENTRYPOINT ["/bin/sh", "-c", "exec \"$@\"", "start"]`
	sh := program{"/bin/sh", "/bin/sh"}
	with := func(settings string) string {
		return strings.Replace(shell, `\"$@\"`, `\"$@\" `+settings, 1)
	}
	for name, c := range map[string]struct {
		options Options
		image   string
		want    []string
	}{
		"not there":       {image: "127.0.0.1:1/redis:none", want: []string{"image 127.0.0.1:1/redis:none not found, and pulling it failed"}},
		"not a good name": {image: "Not An Image", want: []string{"Not An Image"}},
		"without redis":   {image: scratch("empty", "", sh), want: []string{"has no redis-server in its PATH"}},
		"without redis, and a script finds that out": {image: scratch("script", shell, sh), want: []string{"has no redis-server in its PATH", "exit status 127"}},
		"ends at once":        {image: scratch("cat", "", program{"/bin/cat", inImage}), want: []string{"redis-server in the image", "does not start", "exit status 1", "--port"}},
		"does not understand": {image: onRedis("nonsense", with("--nonsense 1"), sh), want: []string{"redis-server in the image", "does not start", "Bad directive"}},
		"a node of a cluster": {image: onRedis("cluster", with("--cluster-enabled yes"), sh), want: []string{"node of a Redis cluster"}},
		"evicts":              {image: onRedis("evicts", with("--maxmemory 100mb --maxmemory-policy allkeys-lru"), sh), want: []string{"allkeys-lru"}},
		"wants a password":    {image: onRedis("password", with("--requirepass secret"), sh), want: []string{"NOAUTH"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.Image, c.options.Nodes = c.image, 1
			f, err := OpenFleet(t.Context(), c.options)
			if err == nil {
				err = errors.Join(errors.New("it starts"), f.Close())
			}
			t.Log(err)
			for _, want := range append(c.want, c.image) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in: %v", want, err)
				}
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*", "node-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, name := range testkit.OurContainers(t) {
		if strings.Contains(name, "-node-") {
			t.Errorf("left behind: the container %s", name)
		}
	}
}

// A good image runs, whatever its user and entry point are, also if its files and its clock
// are shared.
func TestContainerOfAGoodImage(t *testing.T) {
	testkit.NeedEngine(t)
	e, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := e.ownImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	image := build(t, e, "nobody", "FROM "+own+"\nUSER 65534:65534\n"+`ENTRYPOINT ["/bin/sh", "-c", "exec \"$@\"", "start"]`, program{"/bin/sh", "/bin/sh"})
	for name, o := range map[string]Options{"with a clock": {Clocks: true}, "with a journal": {Journal: true}, "linked": {Linked: []int{1}}} {
		t.Run(name, func(t *testing.T) {
			o.Image, o.Nodes = image, 1
			s := openFleet(t, o).Server(1)
			s.must(t, "OK", "SET", "key", "token")
			s.Kill()
			s.mustStart(t)
			s.must(t, "redis: nil", "GET", "key")
		})
	}
}

// program is a program of this machine, and its path in an image.
type program struct{ here, there string }

// build builds an image with programs and the libraries that they need.
func build(t *testing.T, e *engine, name, dockerfile string, programs ...program) (tag string) {
	t.Helper()
	files := map[string]string{} // the file here, by its path there
	for _, p := range programs {
		files[p.there] = p.here
		needed, err := libraries(p.here)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range needed {
			files[l] = l
		}
	}
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	err := writeTarFile(w, "Dockerfile", 0o644, []byte(dockerfile+"\nCOPY root /\n"))
	for _, there := range slices.Sorted(maps.Keys(files)) {
		content, broken := os.ReadFile(files[there])
		err = errors.Join(err, broken, writeTarFile(w, path.Join("root", there), 0o755, content))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	tag, err = e.build(t.Context(), packed.Bytes(), fmt.Sprint("test-", name, "-", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.client.ImageRemove(context.Background(), tag, client.ImageRemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
	return tag
}
