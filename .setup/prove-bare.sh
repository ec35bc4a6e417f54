#!/usr/bin/env bash
# Proves that a fresh clone works on a bare Debian: one with only python3, make, git and a current cargo in it.
#
#   .setup/prove-bare.sh SUITE FOLDER [TARGET...]     for example: .setup/prove-bare.sh bookworm /tmp/bare test
#
# Makes the system in FOLDER by debootstrap (once: a second run finds what the first one installed there; remove FOLDER
# to start bare again), clones the last commit into it, and runs `make TARGET...` there as continuous integration would.
# The mirror, the certificates and pip's settings are this machine's own. Needs root.
set -euo pipefail

(($# >= 2)) || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
suite=$1
folder=$2
targets=("${@:3}")
readonly checkout suite folder targets

say() { printf 'prove-bare: %s\n' "$*" >&2; }

# shellcheck disable=SC2016  # apt-get expands it
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep --invert-match --max-count=1 security; }

# cargo, and the rustc that it asks for the machine's name; both find their libraries in ../lib.
install_cargo() {
    local sysroot
    sysroot=$(rustc --print sysroot)
    install -D --target-directory="$folder/usr/local/bin" "$sysroot"/bin/{cargo,rustc}
    install -D --target-directory="$folder/usr/local/lib" "$sysroot"/lib/*.so*
}

make_system() {
    say "making a bare $suite in $folder"
    debootstrap --variant=minbase --include=python3,make,git,ca-certificates "$suite" "$folder" "$(mirror)" >&2
    install_cargo
}

# What lets this machine reach its package registries lets the bare one, too.
share_network_settings() {
    local file
    for file in /etc/resolv.conf /etc/pip.conf ~/.config/pip/pip.conf ~/.pip/pip.conf ~/.cargo/config.toml; do
        if [[ -e $file ]]; then
            install -D --mode=644 "$file" "$folder$file"
        fi
    done
    cp --recursive /usr/local/share/ca-certificates "$folder/usr/local/share/"
    chroot "$folder" update-ca-certificates >/dev/null
}

clone() {
    rm -rf "$folder/root/harness"
    git clone --quiet --no-local "$checkout" "$folder/root/harness"
}

# In a mount namespace of its own, so that the mounts go when the command ends.
# shellcheck disable=SC2016  # the inner shell expands these
run_make() {
    unshare --mount --fork bash -euc '
        folder=$1; shift
        mount -t proc proc "$folder/proc"
        mount --rbind /sys "$folder/sys"
        mount --rbind /dev "$folder/dev"
        exec chroot "$folder" env --ignore-environment HOME=/root LANG=C.UTF-8 CI=true \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            make --directory /root/harness "$@"
    ' run_make "$folder" "${targets[@]:-test}" </dev/null
}

[[ -e $folder/usr/local/bin/rustc ]] || make_system
share_network_settings
clone
say "make ${targets[*]:-test} on $suite"
started=$SECONDS
run_make
say "passed in $((SECONDS - started)) s"
