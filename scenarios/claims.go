package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Claim is what somebody says about a scenario, a series or a lock, or has reported of it. It is shown
// beside the verdicts and changes nothing.
type Claim struct {
	// By is who says it: a person, a page, a product, or an issue as in redis/redis#8474.
	By string `yaml:"by"`

	// When is the year in which it was said, or last read on a page that changes.
	When int `yaml:"when" want:"1978..2100"`

	// Says is the claimed verdict in a few words.
	Says string `yaml:"says"`

	// Source is the title, and the section if there is one.
	Source string `yaml:"source"`

	// URL is the address of the source. Nothing means the known address of an article or issue.
	URL string `yaml:"url,omitempty"`
}

// Article names the source with its author and year.
func (c Claim) Article() string { return fmt.Sprintf("%s %d, %s", c.By, c.When, c.Source) }

// Link returns the address of the source; "" if it is not known.
func (c Claim) Link() string {
	if c.URL != "" {
		return c.URL
	}
	if issue := issueName.FindStringSubmatch(c.By); issue != nil {
		return fmt.Sprintf("https://github.com/%s/issues/%s", issue[1], issue[2]) // GitHub leads to a pull request from there
	}
	return articleURLs[c.By]
}

var issueName = regexp.MustCompile(`^([\w.-]+/[\w.-]+)#(\d+)$`)

// articleURLs are the addresses of the articles that most rows cite, by their authors.
var articleURLs = map[string]string{
	kleppmann:   "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
	antirez:     "http://antirez.com/news/101",
	"redis.io":  "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/",
	"valkey.io": "https://valkey.io/topics/distlock/",

	"Gray and Cheriton":     "https://dl.acm.org/doi/10.1145/74851.74870",
	"A. J. J. Davis":        "https://emptysqua.re/blog/timers-distributed-algorithms/",
	"AWS Builders' Library": "https://aws.amazon.com/builders-library/leader-election-in-distributed-systems/",
	"client-go":             "https://pkg.go.dev/k8s.io/client-go/tools/leaderelection",
	"DynamoDB lock client":  "https://github.com/awslabs/amazon-dynamodb-lock-client#readme",
	"Redisson":              "https://redisson.pro/docs/data-and-services/locks-and-synchronizers/",
}

// The two sides of 2016, as claims name them.
const kleppmann, antirez = "Kleppmann", "antirez"

// Voice is a column of the debate's tables, with its claims on one row.
type Voice struct {
	Name   string
	Claims []Claim

	// Undated makes Says leave out the years of older claims, for a page that lists the sources with their years.
	Undated bool
}

// Voices sorts the claims on a row by voice: the two sides of 2016, and everybody else, above all those
// who describe, sell or repair locks today.
func Voices(claims []Claim) []Voice {
	all := []Voice{{Name: kleppmann}, {Name: antirez}, {Name: "today"}}
	for _, c := range claims {
		n := slices.IndexFunc(all, func(v Voice) bool { return v.Name == c.By })
		if n < 0 {
			n = len(all) - 1
		}
		all[n].Claims = append(all[n].Claims, c)
	}
	return all
}

// recent is the first year that a table does not print beside who says something today.
const recent = 2024

// Says returns the claims on one line, each once; "" if there are none. If the voice is not one
// author's, it names the authors, and the years of older claims.
func (v Voice) Says() string {
	var said []string
	by := map[string][]string{}
	for _, c := range v.Claims {
		who := c.By
		if c.When < recent && !v.Undated {
			who = fmt.Sprintf("%s %d", c.By, c.When)
		}
		if by[c.Says] == nil {
			said = append(said, c.Says)
		}
		if !slices.Contains(by[c.Says], who) {
			by[c.Says] = append(by[c.Says], who)
		}
	}
	for i, text := range said {
		if v.Name != kleppmann && v.Name != antirez {
			said[i] = fmt.Sprintf("%s (%s)", text, strings.Join(by[text], ", "))
		}
	}
	return strings.Join(said, "; ")
}

// said is a claim of one of the two sides of 2016, or of redis.io, in a series.
func said(by string, when int, says, source string) Claim {
	return Claim{By: by, When: when, Says: says, Source: source}
}

// Claims of series: of Kleppmann's article, of antirez's, and of the page of redis.io.
func fromKleppmann(says, section string) Claim {
	return said(kleppmann, 2016, says, `"How to do distributed locking", section "`+section+`"`)
}

func fromAntirez(says string) Claim { return said(antirez, 2016, says, `"Is Redlock safe?"`) }

func fromRedis(says, section string) Claim {
	return said("redis.io", 2026, says, `"Distributed Locks with Redis", section "`+section+`"`)
}

// Sections of Kleppmann's article that several series cite.
const onProtection, onSynchrony = "Protecting a resource with a lock", "The synchrony assumptions of Redlock"
