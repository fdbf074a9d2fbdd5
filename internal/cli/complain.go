package cli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// complain prints an error in one line. Its text may be a user's, a file's or a program's.
func complain(problems io.Writer, err error) {
	text := redacted(textfmt.Printable(oneLine.Replace(strings.TrimSpace(err.Error()))))
	text = together.ReplaceAllString(text, "--$1 and --$2: want one of them")
	if unknown := new(textfmt.UnknownError); errors.As(err, &unknown) && !unknown.Few() {
		text += fmt.Sprintf(` ("lockstorm %s" names all)`, listOf(unknown.What))
	}
	_, _ = fmt.Fprintln(problems, "lockstorm:", text)
}

// together matches cobra's error about flags that exclude each other.
var together = regexp.MustCompile(`^if any flags in the group .* \[(\S+) (\S+)\] were all set$`)

// redacted hides user names and passwords of URLs in a text.
func redacted(text string) string { return credentials.ReplaceAllString(text, "://…@") }

var credentials = regexp.MustCompile(`://[^\s"']*@`)
