// Package front is the playground's front end: the sources of the page, and the page as it was built
// (scripts/playground.sh), if the program was built with the tag playground.
package front
