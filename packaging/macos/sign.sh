#!/bin/sh
# Sign the application in an archive of packaging/build.py with a Developer ID, have Apple notarise it, and put it
# into the archive again. Written from Apple's documentation: it has not been tried.
#
#     sh packaging/macos/sign.sh ARCHIVE.zip
#
# In the environment: CERTIFICATE, a Developer ID Application certificate with its key (.p12 in base64), and
# CERTIFICATE_PASSWORD; NOTARY_KEY, a key of App Store Connect (.p8), with NOTARY_KEY_ID and NOTARY_ISSUER.
set -eu
for name in CERTIFICATE CERTIFICATE_PASSWORD NOTARY_KEY NOTARY_KEY_ID NOTARY_ISSUER; do
    eval "value=\${$name:-}"
    [ -n "$value" ] || { echo "$0: the variable $name is not set. What it holds is said above in this file." >&2; exit 2; }
done
here=$(cd "$(dirname "$0")" && pwd)
archive=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
keychain=$work/signing.keychain-db
# The lines of `security list-keychains` are paths in quotes, as xargs reads them.
tidy() {
    [ ! -s "$work/keychains" ] || xargs security list-keychains -d user -s < "$work/keychains" || true
    security delete-keychain "$keychain" 2>/dev/null || true
    rm -rf "$work"
}
trap tidy EXIT

printf %s "$CERTIFICATE" | base64 --decode > "$work/certificate.p12"
printf %s "$NOTARY_KEY" > "$work/notary.p8"
password=$(uuidgen)
security create-keychain -p "$password" "$keychain"
security set-keychain-settings -lut 21600 "$keychain"  # seconds: else it locks itself while Apple is waited for
security unlock-keychain -p "$password" "$keychain"
security import "$work/certificate.p12" -k "$keychain" -P "$CERTIFICATE_PASSWORD" -T /usr/bin/codesign
# The chain of the certificate is looked for in the keychains that are listed.
security list-keychains -d user > "$work/keychains"
{ printf '"%s"\n' "$keychain"; cat "$work/keychains"; } | xargs security list-keychains -d user -s
# Without this, codesign would ask a person for the key.
security set-key-partition-list -S apple-tool:,apple: -s -k "$password" "$keychain" > "$work/partition"
identity=$(security find-identity -v -p codesigning "$keychain" | awk '/Developer ID Application/ { print $2; exit }')
[ -n "$identity" ] || { echo "$0: the certificate is no Developer ID Application certificate." >&2; exit 2; }

ditto -x -k "$archive" "$work/bundle"
app=$(find "$work/bundle" -maxdepth 2 -name Tiebreak.app)
sign() { codesign --force --timestamp --options runtime --keychain "$keychain" --sign "$identity" "$@"; }
# From the inside out: a signature covers those of what lies in it.
find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) | while IFS= read -r library; do sign "$library"; done
program=$(plutil -extract CFBundleExecutable raw -o - "$app/Contents/Info.plist")
# Programs and libraries that no name tells; the application's own program is signed with the application.
find "$app/Contents" -type f ! -name '*.dylib' ! -name '*.so' ! -path '*.framework/*' \
    ! -path "$app/Contents/MacOS/$program" | while IFS= read -r other; do
    case $(file -b "$other") in
        Mach-O*executable*) sign --entitlements "$here/entitlements.plist" "$other" ;;
        Mach-O*) sign "$other" ;;
    esac
done
find "$app/Contents" -type d -name '*.framework' | while IFS= read -r framework; do sign "$framework"; done
sign --entitlements "$here/entitlements.plist" "$app"
codesign --verify --deep --strict "$app"

ditto -c -k --keepParent "$app" "$work/app.zip"
xcrun notarytool submit "$work/app.zip" --wait \
    --key "$work/notary.p8" --key-id "$NOTARY_KEY_ID" --issuer "$NOTARY_ISSUER"
xcrun stapler staple "$app"
folder=$(dirname "$app")
ditto -c -k --keepParent "$folder" "$work/signed.zip"
mv "$work/signed.zip" "$archive"
spctl --assess --type execute --verbose "$app"
