#!/usr/bin/env bash
# Makes a fresh checkout ready to work: system packages, cargo, and the Python packages in .venv.
# What is already there is left alone, so that running it again costs nothing.
#
# --for-tests  also what only the tests need, which is large: a browser
# PYTHON=...   the Python to build .venv with (3.11 or newer; default: the first one found)
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
requirements=$root/.setup/requirements.txt
stamp=$venv/.setup-stamp
readonly root venv requirements stamp

# One Debian package a line, and what harness needs it for.
readonly system_packages="
gcc-arm-none-eabi                compiles the firmware for Cortex-M boards
libnewlib-arm-none-eabi          the C library of that firmware
libstdc++-arm-none-eabi-newlib   the C++ headers of that firmware
gcc-xtensa-lx106                 compiles the firmware for the ESP32
picolibc-xtensa-lx106-elf        the C library of that firmware
qemu-system-misc                 runs it on the virtual ESP32
g++                              compiles the firmware's portable half for the tests on this machine
shellcheck                       checks the shell scripts
"

readonly test_packages="
chromium                         opens the report's page in its tests (with its driver, 124 MB to fetch, 395 MB on disk)
chromium-driver                  drives it
"

say() { printf 'setup: %s\n' "$*" >&2; }

die() {
    say "$1"
    printf 'hint: %s\n' "$2" >&2
    exit 1
}

# --- Python ----------------------------------------------------------------------------------------------------------

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# A .venv that was moved or copied here still points to its old place.
usable_venv() {
    new_enough "$venv/bin/python" && grep --quiet --fixed-strings --no-messages "$venv/bin/python" "$venv/bin/pip"
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 /usr/bin/python3 python3.13 python3.12 python3.11}; do
        if new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    die "no Python 3.11 or newer: tried ${PYTHON:-python3, python3.11 to python3.13}" \
        "install one (Debian 12 and newer have it as python3), or name one: make setup PYTHON=/path/to/python3"
}

# Debian keeps the half of Python that makes virtual environments in a package of its own.
missing_venv_package() {
    local python
    python=$(find_python)
    if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        return
    fi
    "$python" -c 'import sys; sys.exit(sys.base_prefix != "/usr")' || die \
        "$python cannot make a virtual environment: it lacks ensurepip" "name another: make setup PYTHON=/usr/bin/python3"
    "$python" -c 'import sys; print("%-32s makes .venv" % ("python%d.%d-venv" % sys.version_info[:2]))'
}

# --- system packages -------------------------------------------------------------------------------------------------

installed() { [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

missing_packages() {
    local package purpose
    while read -r package purpose; do
        if [[ -n $package ]] && ! installed "$package"; then
            printf '%-32s %s\n' "$package" "$purpose"
        fi
    done <<<"$wanted_packages"
    usable_venv || missing_venv_package
}

# apt_install LIST: install the packages of LIST, lines of a name and its purpose.
apt_install() {
    local names as_root=()
    mapfile -t names <<<"$(awk '{ print $1 }' <<<"$1")"
    say "installing these Debian packages with apt-get, which takes a minute or two:"
    awk '{ print "    " $0 }' <<<"$1" >&2
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null || die "that needs root" "as root: apt-get update && apt-get install ${names[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get --quiet --quiet -o DPkg::Lock::Timeout=300 update >/dev/null
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get --quiet --quiet -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
        install --yes --no-install-recommends "${names[@]}" >/dev/null
}

install_system_packages() {
    local missing
    if ! command -v dpkg-query >/dev/null; then
        say "this is no Debian system; harness needs what these Debian packages hold:$wanted_packages"
        return
    fi
    missing=$(missing_packages)
    [[ -z $missing ]] || apt_install "$missing"
}

# --- cargo -----------------------------------------------------------------------------------------------------------

# The TFLM sources come as a crate; once it is on this machine, cargo is not needed again.
crate_is_here() {
    compgen -G "${CARGO_HOME:-$HOME/.cargo}/registry/cache/*/tfmicro-0.1.0.crate" >/dev/null ||
        compgen -G "${XDG_CACHE_HOME:-$HOME/.cache}/harness/sources/*/tfmicro-0.1.0" >/dev/null
}

# version_at_least FOUND WANTED
version_at_least() { printf '%s\n%s\n' "$2" "$1" | sort --version-sort --check=quiet; }

check_cargo() {
    local found
    crate_is_here && return
    found=$(cargo --version 2>/dev/null | awk '{ print $2 }') || true
    version_at_least "${found:-0}" 1.70 || die \
        "cargo 1.70 or newer fetches the TFLM sources; found ${found:-none}" \
        "install it with rustup, or from Debian 13 or newer by apt-get install cargo"
}

# --- Python packages -------------------------------------------------------------------------------------------------

make_venv() {
    local python
    python=$(find_python)
    say "making .venv with $python"
    "$python" -m venv --clear "$venv"
}

# All that .venv was made from: when any of it changes, the packages are installed anew.
fingerprint() { cat "$requirements" "$root/pyproject.toml" "$root/.setup/setup.sh" | sha256sum; }

pip() { "$venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input "$@" >&2; }

install_python_packages() {
    local wanted
    wanted=$(fingerprint)
    if ! usable_venv; then
        make_venv
    elif [[ -e $stamp && $(<"$stamp") == "$wanted" ]]; then
        return
    fi
    say "installing the Python packages pinned in .setup/requirements.txt into .venv"
    # esptool comes as source only.
    pip install --require-hashes --only-binary :all: --no-binary esptool --requirement "$requirements"
    pip install --no-index --no-deps --no-build-isolation --editable "$root"
    printf '%s\n' "$wanted" >"$stamp"
}

# Debian's children have no chromium-driver, or another one; the tests of the page are skipped there.
is_debian() { grep --quiet --line-regexp --no-messages 'ID=debian' /etc/os-release; }

wanted_packages=$system_packages
if [[ ${1-} == --for-tests ]] && is_debian; then
    wanted_packages+=$test_packages
fi
readonly wanted_packages

check_cargo
install_system_packages
install_python_packages
