#!/bin/sh
# Prints the path of the browser that tests of pages drive: $CHROME, or the first of its kind
# that is installed. Without one it fails and says nothing.
set -eu
for name in ${CHROME:-chromium chromium-browser google-chrome}; do
	command -v "$name" && exit 0
done
exit 1
