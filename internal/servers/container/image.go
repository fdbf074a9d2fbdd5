package container

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

//go:embed removeimage.sh
var removeImageScript string

// pullTimeout bounds how long pulling an image may take.
const pullTimeout = 10 * time.Minute

// ensureImage pulls the image that a user names unless it is present.
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
	pull, err := e.client.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		err = pull.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("image %s not found, and pulling it failed: %w", image, oneLine(err))
	}
	return nil
}

// built is the image that this program has built. Other programs build their own.
var built struct {
	sync.Mutex
	tag    string
	reaper *child.Reaper // never closed: it removes the image when this program ends
}

// ownImage returns the tag of the image that is built once in this program and removed at
// its end.
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
	reaper, err := child.StartReaper(removeImageScript, e.socket, ownImageName+":"+version)
	if err != nil {
		return "", err
	}
	tag, err = e.build(ctx, archive, version)
	if err != nil {
		return "", errors.Join(err, reaper.Close())
	}
	built.tag, built.reaper = tag, reaper
	return tag, nil
}

// ownImageName is the name of images that we build. Their versions differ.
const ownImageName = "lockstorm-redis"

func (e *engine) build(ctx context.Context, archive []byte, version string) (tag string, err error) {
	tag = ownImageName + ":" + version
	build, err := e.client.ImageBuild(ctx, bytes.NewReader(archive), client.ImageBuildOptions{
		Tags: []string{tag}, Labels: map[string]string{label: version}, Remove: true, ForceRemove: true,
	})
	if err == nil {
		err = buildError(build.Body)
	}
	if err != nil {
		return "", fmt.Errorf("build an image from the local redis-server: %w", oneLine(err))
	}
	return tag, nil
}

// buildError reads the progress of a build to its end, and returns the error in it.
func buildError(progress io.ReadCloser) error {
	defer func() { _ = progress.Close() }()
	for decoder := json.NewDecoder(progress); ; {
		var step jsonstream.Message
		switch err := decoder.Decode(&step); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case step.Error != nil:
			return step.Error
		}
	}
}

// inImage is the path of redis-server in an image that we build.
const inImage = "/usr/local/bin/redis-server"

// buildContext returns the build context of an image: the files at their paths, and
// redis-server in the PATH.
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

// requiredFiles returns the paths of the files that a program needs: its libraries and, if
// they are installed, those that give it its own clock.
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

// libraryPattern matches the path in a line of ldd's output.
var libraryPattern = regexp.MustCompile(`(?m)^\s*(?:\S+ => )?(/\S+) \(0x`)

// libraries returns the paths of the libraries that a program is linked with, including its
// loader. A static program needs none.
func libraries(binary string) (paths []string, err error) {
	cmd := exec.Command("ldd", binary)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "not a dynamic executable") {
		return nil, fmt.Errorf("list the libraries of %s: %w: %s", binary, err, strings.TrimSpace(string(out)))
	}
	for _, found := range libraryPattern.FindAllStringSubmatch(string(out), -1) {
		paths = append(paths, found[1])
	}
	return paths, nil
}
