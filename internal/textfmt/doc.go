// Package textfmt formats text for people: numbers and durations, lists, sentences, shell commands
// that can be copied, the names nearest to an unknown one, and tables. A [Table] that is wider
// than the terminal is printed in groups of columns; it can also be printed as Markdown.
package textfmt
