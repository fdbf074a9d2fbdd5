package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// Manifest says what is to run on how many machines.
type Manifest struct {
	Name     string // of the job: lower-case letters, digits and hyphens, as DNS has it
	Binary   string // lockstorm, or its path on the machines or in the image
	Image    string // of containers
	Machines int    // 1 to MaxMachines
	Workers  int    // processes on each machine, at least 1; each gets a CPU

	// Time is how long a machine may take; Slurm rounds it up to minutes. Compose knows no such limit.
	Time time.Duration

	// Memory is that of a machine, in MiB.
	Memory int

	// Servers keep the campaign. Its files are on the machines (Slurm), on this machine (compose), or
	// in the Secret (Kubernetes). An empty URL: there are no servers, and Command is divided.
	Servers  campaign.Servers
	Campaign string // the only campaign to work on; empty: all
	Secret   string // its keys are those of Files

	// Command is divided into a part for each machine: the words of a sweep or of explore. Parts are
	// stored in the directory Out (Slurm, compose) or in the PersistentVolumeClaim Claim (Kubernetes).
	Command []string
	Out     string
	Claim   string
}

// MaxMachines is the most tasks that an array of Slurm can have with its default MaxArraySize.
const MaxMachines = 1000

// DivisibleCommands lists the commands that can be divided without servers.
var DivisibleCommands = []string{"sweep", "explore"}

// file is a file that a connection to the servers needs.
type file struct {
	Key  string // of a secret
	Flag string // of lockstorm work
	Path string // on the machine of the user
}

// Files lists the files that a connection to the servers needs.
func (m Manifest) Files() (list []file) {
	for _, f := range []file{
		{"creds", "--creds", m.Servers.Creds},
		{"tls-ca", "--tls-ca", m.Servers.CA},
		{"tls-cert", "--tls-cert", m.Servers.Cert},
		{"tls-key", "--tls-key", m.Servers.Key},
	} {
		if f.Path != "" {
			list = append(list, f)
		}
	}
	return list
}

// validate returns an error for what no scheduler can run, and for a password in the URL.
func (m Manifest) validate() error {
	if err := campaign.ValidateName(m.Name); err != nil || strings.HasSuffix(m.Name, "-") {
		return fmt.Errorf("name %q of the job: want up to 60 lower-case letters, digits and hyphens, and none of these at its end", m.Name)
	}
	switch {
	case m.Machines < 1 || m.Machines > MaxMachines:
		return fmt.Errorf("%d machines: want 1 to %d", m.Machines, MaxMachines)
	case m.Workers < 1:
		return fmt.Errorf("%d workers: want at least 1", m.Workers)
	case m.Memory < 1:
		return fmt.Errorf("%d MiB of memory: want at least 1", m.Memory)
	case m.Binary == "" || strings.HasPrefix(m.Binary, "-"):
		return fmt.Errorf("binary %q: want lockstorm, or its path", m.Binary)
	}
	if err := m.readable(); err != nil {
		return err
	}
	if m.Servers.URL != "" {
		return m.withServers()
	}
	return m.withoutServers()
}

func (m Manifest) withServers() error {
	switch {
	case len(m.Command) > 0:
		return errors.New("with NATS servers the campaign has the command: start it by lockstorm campaign start --detach")
	case m.Campaign != "":
		if err := campaign.ValidateName(m.Campaign); err != nil {
			return err
		}
	}
	return m.Servers.Validate()
}

func (m Manifest) withoutServers() error {
	switch {
	case len(m.Files()) > 0 || m.Campaign != "":
		return errors.New("a campaign and credentials need the URL of NATS servers")
	case len(m.Command) == 0:
		return errors.New("want the URL of NATS servers, or a command to divide")
	case strings.HasPrefix(m.Out, "-"):
		return fmt.Errorf("directory %q: it looks like a flag; want ./%s", m.Out, m.Out)
	case !slices.Contains(DivisibleCommands, m.Command[0]):
		return fmt.Errorf("command %q: without NATS servers want %s", m.Command[0], strings.Join(DivisibleCommands, " or "))
	case slices.Contains(m.Command, "--"): // flags are added
		return errors.New("the command contains --, which ends its flags: leave it out")
	}
	return nil
}

// readable returns an error for text that neither a shell nor YAML can express.
func (m Manifest) readable() error {
	words := []string{m.Binary, m.Image, m.Servers.URL, m.Secret, m.Out, m.Claim}
	for _, f := range m.Files() {
		words = append(words, f.Path)
	}
	for _, w := range append(words, m.Command...) {
		if !utf8.ValidString(w) || strings.ContainsRune(w, 0) {
			return fmt.Errorf("%q: want UTF-8 without a zero byte", w)
		}
	}
	return nil
}

// containers returns an error for what no container can run.
func (m Manifest) containers() error {
	if m.Image == "" {
		return errors.New("want an image with lockstorm")
	}
	return m.validate()
}
