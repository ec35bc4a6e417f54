#!/bin/sh
# Make one file of what changed since the last release, and set the version. Commits nothing.
# Usage: .setup/release.sh VERSION
set -eu
cd "$(dirname "$0")/.."

version=${1:-}
if ! echo "$version" | grep -Eqx '20[0-9]{2}\.([1-9]|1[0-2])\.[0-9]+'; then
    echo "release: found '$version', expected year.month.number, such as VERSION=2027.1.0" >&2
    exit 2
fi
notes=.changes/$version.md
if [ -e "$notes" ]; then
    echo "release: $notes exists: this version has been released" >&2
    exit 2
fi
set -- .changes/next/*.md
if [ ! -e "$1" ]; then
    echo "release: .changes/next holds no change" >&2
    exit 2
fi

{
    printf '# %s\n\n' "$version"
    cat "$@"
} > "$notes"
rm "$@"
sed -i "s/^__version__ = .*/__version__ = \"$version\"/" harness/__init__.py
echo "wrote $notes and harness/__init__.py; to do: git commit, git tag v$version"
