package scenarios

import "strings"

// Articles of the debate, as sources name them at their beginning.
const (
	kleppmann2016 = "Kleppmann 2016"
	antirez2016   = "antirez 2016"
	redisDocs     = "redis.io"
)

// articleURLs are the addresses of the articles.
var articleURLs = map[string]string{
	kleppmann2016: "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
	antirez2016:   "http://antirez.com/news/101",
	redisDocs:     "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/",
}

// ArticleURL returns the address of the article that a source of a row or series names; "" if it is
// not known.
func ArticleURL(source string) string {
	for begin, url := range articleURLs {
		if strings.HasPrefix(source, begin) {
			return url
		}
	}
	return ""
}

// ByKleppmann reports whether a source is Kleppmann's article. The other articles are antirez's.
func ByKleppmann(source string) bool { return strings.HasPrefix(source, kleppmann2016) }

// Sources of series.
const (
	onEfficiency  = kleppmann2016 + `, "How to do distributed locking", section "What are you using that lock for?"`
	onProtection  = kleppmann2016 + `, "How to do distributed locking", section "Protecting a resource with a lock"`
	onSynchrony   = kleppmann2016 + `, "How to do distributed locking", section "The synchrony assumptions of Redlock"`
	isRedlockSafe = antirez2016 + `, "Is Redlock safe?"`
	onAsynchrony  = redisDocs + `, "Distributed Locks with Redis", section "Is the Algorithm Asynchronous?"`
	onRestarts    = redisDocs + `, "Distributed Locks with Redis", section "Performance, Crash Recovery and fsync"`
	onRetries     = redisDocs + `, "Distributed Locks with Redis", section "Retry on Failure"`
)
