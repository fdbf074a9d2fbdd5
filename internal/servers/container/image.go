//go:build linux

package container

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

//go:embed removeimage.sh
var removeImageScript string

// pullTimeout is how long an image may take to come.
const pullTimeout = 10 * time.Minute

// ensureImage sees to it that the image that a user names is there.
func (e *engine) ensureImage(ctx context.Context, image string) error {
	_, err := e.client.ImageInspect(ctx, image)
	switch {
	case err == nil:
		return nil
	case !errdefs.IsNotFound(err):
		return fmt.Errorf("the image %s: %w", image, oneLine(err))
	}
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	if err := e.provider.PullImage(ctx, image); err != nil {
		return fmt.Errorf("there is no image %s, and it cannot be pulled: %w", image, oneLine(err))
	}
	_, err = e.client.ImageInspect(ctx, image) // what goes wrong in the middle nobody has told yet
	return err
}

// built is the image that this program has built. It is the program's own: another that
// runs beside it has another, and takes none away.
var built struct {
	sync.Mutex
	tag    string
	keeper *child.Reaper // never closed: that it ends is the end of this program
}

// ownImage returns the tag of the image that is built once in the life of this program, and
// goes with it.
func (e *engine) ownImage(ctx context.Context) (tag string, err error) {
	built.Lock()
	defer built.Unlock()
	if built.tag != "" {
		return built.tag, nil
	}
	binary, err := redisserver.FindServer("")
	if err != nil {
		return "", err
	}
	files, err := requiredFiles(binary)
	if err != nil {
		return "", err
	}
	archive, err := buildContext(binary, files)
	if err != nil {
		return "", err
	}
	version := fmt.Sprintf("%.12x-%d", sha256.Sum256(archive), os.Getpid())
	keeper, err := child.StartReaper(removeImageScript, e.socket, ownImageName+":"+version)
	if err != nil {
		return "", err
	}
	tag, err = e.build(ctx, archive, version)
	if err != nil {
		return "", errors.Join(err, keeper.Close())
	}
	built.tag, built.keeper = tag, keeper
	return tag, nil
}

// ownImageName is what images that we build are called; versions tell them apart.
const ownImageName = "lockstorm-redis"

func (e *engine) build(ctx context.Context, archive []byte, version string) (tag string, err error) {
	tag, err = e.provider.BuildImage(ctx, &testcontainers.ContainerRequest{
		FromDockerfile: testcontainers.FromDockerfile{
			ContextArchive: bytes.NewReader(archive),
			Repo:           ownImageName,
			Tag:            version,
			KeepImage:      true,
			BuildOptionsModifier: func(o *client.ImageBuildOptions) {
				o.Labels = map[string]string{label: version}
			},
		},
	})
	if err != nil {
		return "", fmt.Errorf("cannot build an image of the local redis-server: %w", oneLine(err))
	}
	return tag, nil
}

// inImage is where redis-server is in an image that we build.
const inImage = "/usr/local/bin/redis-server"

// buildContext is what an image is built of: the files, each at its path, and
// redis-server in the PATH, which works in a directory of its own.
func buildContext(binary string, files []string) ([]byte, error) {
	dockerfile := "FROM scratch\nCOPY root /\nWORKDIR /data\n"
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	err := writeTarFile(w, "Dockerfile", 0o644, []byte(dockerfile))
	for _, f := range slices.Concat([]string{binary}, files) {
		at := f
		if f == binary {
			at = inImage
		}
		content, broken := os.ReadFile(f)
		err = errors.Join(err, broken, writeTarFile(w, path.Join("root", filepath.ToSlash(at)), 0o755, content))
	}
	return packed.Bytes(), errors.Join(err, w.Close())
}

func writeTarFile(w *tar.Writer, name string, mode int64, content []byte) error {
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

// requiredFiles are the paths of the files without which a program does not run: its libraries,
// and, if they are here, those that give it a clock of its own, with theirs.
func requiredFiles(binary string) ([]string, error) {
	all, err := libraries(binary)
	if err != nil {
		return nil, err
	}
	if preload, none := redisserver.FindFakeTime(); none == nil {
		for _, p := range strings.Split(preload, ":") {
			more, err := libraries(p)
			if err != nil {
				return nil, err
			}
			all = append(append(all, p), more...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// libraryPattern finds the path in a line of ldd.
var libraryPattern = regexp.MustCompile(`(?m)^\s*(?:\S+ => )?(/\S+) \(0x`)

// libraries are the paths of what a program is linked with, its loader included. One that
// is linked with nothing needs none.
func libraries(binary string) (paths []string, err error) {
	cmd := exec.Command("ldd", binary)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "not a dynamic executable") {
		return nil, fmt.Errorf("which libraries %s needs: %w: %s", binary, err, strings.TrimSpace(string(out)))
	}
	for _, found := range libraryPattern.FindAllStringSubmatch(string(out), -1) {
		paths = append(paths, found[1])
	}
	return paths, nil
}
