package mutants

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/gotool"
)

// Sum returns a hash of the sources of the hunter in the checkout: checkouts of the same sum, built with the
// same Go, make the same hunts.
func (c Checkout) Sum(ctx context.Context) (string, error) {
	const files = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	out, err := gotool.Output(ctx, c.root, "list", "-deps", "-f", files, "./internal/mutants/hunter")
	if err != nil {
		return "", errors.Join(ctx.Err(), err)
	}
	sum := sha256.New()
	names := append(strings.Fields(string(out)), filepath.Join(c.root, "go.mod"), filepath.Join(c.root, "go.sum"))
	slices.Sort(names)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		short, err := filepath.Rel(c.root, name)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(short), len(text), text) // a hash returns no errors
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
