// Package counterexample draws findings: the part of a history around a violation, or around
// what could not be decided, as a standalone HTML page. It is porcupine's visualisation of that
// part under the specification of the property, with annotations: each client's windows, pauses
// and death, the calls, keys or accesses that the property is about, the faults, nodes and
// links. The page itself is made by internal/page.
//
//	for _, p := range Of(report) {
//		page, err := p.Page(func() (io.ReadCloser, error) { return os.Open(file) })
//		...
//	}
//
// A picture reads its history a second time, keeps only what it shows, and stops when it has
// enough. It shows the checker's finding, and what porcupine says of the part that is shown.
package counterexample
