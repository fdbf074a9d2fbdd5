// Package languages tries locks of other languages than Go: the examples of the repository, which are
// programs that speak the protocol of docs/other-languages.md.
package languages
