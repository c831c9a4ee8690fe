#!/bin/sh
# Install Tiebreak for the user who runs this, or remove it again. No root, nothing outside the user's own folders.
#
#     ./install.sh             install, or replace an older version
#     ./install.sh --remove    remove the program; runs, settings and models stay, and it says where they are
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
bin=$HOME/.local/bin

folder() { # one of the user's folders: the variable's, unless that is relative, which counts for nothing
    case "$1" in
        /*) printf '%s' "$1" ;;
        *) printf '%s' "$2" ;;
    esac
}

share=$(folder "${XDG_DATA_HOME:-}" "$HOME/.local/share")
# Not Tiebreak, the name of the folder of runs and models.
program=$share/tiebreak-program
# The installed copy removes itself, wherever it was installed.
if [ "${here##*/}" = tiebreak-program ]; then
    program=$here
    share=${here%/*}
fi

main() {
    case "${1:-}" in
        "") install ;;
        --remove) remove_all ;;
        *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
}

install() {
    if [ ! -x "$here/tiebreak" ] || [ ! -d "$here/_internal" ]; then
        echo "The program is not beside this script: unpack the whole archive, then run ./install.sh in it." >&2
        exit 2
    fi
    if [ "$here" = "$program" ]; then
        echo "This is the installed Tiebreak already. To install a newer one, run the install.sh of its archive." >&2
        exit 2
    fi
    mkdir -p "$share" "$bin"
    # Whole before the old one goes: a full disk leaves the old one in place.
    discard "$program.new"
    if ! cp -R "$here" "$program.new" || ! chmod -R u+w "$program.new"; then
        discard "$program.new"
        echo "Tiebreak was not installed: it could not be copied to $share." >&2
        exit 1
    fi
    discard "$program.old"
    [ ! -e "$program" ] || mv "$program" "$program.old"
    if ! mv "$program.new" "$program"; then
        [ ! -e "$program.old" ] || mv "$program.old" "$program"
        echo "Tiebreak was not installed: $program cannot be written." >&2
        exit 1
    fi
    discard "$program.old"
    remove_from_desktop
    if [ -e "$bin/tiebreak" ] || [ -L "$bin/tiebreak" ]; then
        command=$program/tiebreak
        echo "There is another $bin/tiebreak, which stays as it is."
    else
        command=tiebreak
        ln -s "$program/tiebreak" "$bin/tiebreak"
    fi
    (cd "$program/share" && find . -type f) | while read -r file; do
        mkdir -p "$(dirname "$share/$file")"
        cp "$program/share/$file" "$share/$file"
    done
    # A desktop may not have the user's bin folder on its path.
    {
        grep -v -e '^Exec=' -e '^TryExec=' "$program/share/applications/tiebreak.desktop"
        printf 'Exec="%s" %%f\n' "$(in_desktop_entry "$program/tiebreak")"
    } > "$share/applications/tiebreak.desktop"
    refresh
    echo "Tiebreak is installed in $program."
    echo "Start it from the menu of your desktop, or with: $command"
    case ":$PATH:" in
        *":$bin:"*) ;;
        *) echo "(Where that is not found, log in again: $bin is not on your PATH yet.)" ;;
    esac
    echo "To remove it: $program/install.sh --remove"
}

in_desktop_entry() { # a path as it stands between the quotes of an Exec line
    printf '%s' "$1" | sed -e 's/\\/\\\\\\\\/g' -e 's/["`$]/\\\\&/g' -e 's/%/%%/g'
}

discard() { # a folder, also one that was copied from a read-only place
    if [ -e "$1" ]; then
        chmod -R u+w "$1"
        rm -rf "$1"
    fi
}

remove_from_desktop() {
    if is_our_command; then
        rm "$bin/tiebreak"
    fi
    rm -f "$share/applications/tiebreak.desktop" "$share/metainfo/tiebreak.metainfo.xml"
    rm -f "$share"/icons/hicolor/*/apps/tiebreak.png "$share/icons/hicolor/scalable/apps/tiebreak.svg"
}

is_our_command() {
    [ -L "$bin/tiebreak" ] && [ "$(readlink "$bin/tiebreak")" = "$program/tiebreak" ]
}

remove_all() {
    if [ ! -e "$program" ] && [ ! -e "$program.new" ] && [ ! -e "$program.old" ]; then
        echo "Tiebreak is not installed in $program." >&2
        exit 2
    fi
    remove_from_desktop
    for part in "$program" "$program.new" "$program.old"; do
        discard "$part"
    done
    refresh
    # The list of a folder without programs, and folders in which nothing is left.
    if [ "$(cat "$share/applications/mimeinfo.cache" 2> /dev/null)" = "[MIME Cache]" ]; then
        rm "$share/applications/mimeinfo.cache"
    fi
    rmdir "$share"/icons/hicolor/*/apps "$share"/icons/hicolor/* "$share/icons/hicolor" "$share/icons" \
        "$share/metainfo" "$share/applications" "$bin" 2> /dev/null || true
    echo "Tiebreak is removed. What is yours stays, until you remove it:"
    echo "    $(folder "${XDG_DATA_HOME:-}" "$HOME/.local/share")/Tiebreak   (runs, settings, models)"
    echo "    $(folder "${XDG_CACHE_HOME:-}" "$HOME/.cache")/Tiebreak         (what can be computed again)"
    echo "    $(folder "${XDG_STATE_HOME:-}" "$HOME/.local/state")/Tiebreak   (logs)"
    [ -z "${TIEBREAK_HOME:-}" ] || echo "    $TIEBREAK_HOME   (named by TIEBREAK_HOME)"
}

refresh() { # lists that some desktops keep; those without the tools read the folders themselves
    if command -v update-desktop-database > /dev/null; then
        update-desktop-database -q "$share/applications" 2> /dev/null || true
    fi
    # Only a list that is there: a new one would hide what other programs put beside it.
    touch "$share/icons/hicolor" 2> /dev/null || true
    if [ -e "$share/icons/hicolor/icon-theme.cache" ] && command -v gtk-update-icon-cache > /dev/null; then
        gtk-update-icon-cache -qft "$share/icons/hicolor" 2> /dev/null || true
    fi
}

# The whole script is read before it removes the folder that it lies in.
main "$@"
exit
