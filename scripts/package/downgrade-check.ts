// The check of the server package before dpkg replaces it by an older version: whether that version reads the records of
// the platform. If it does not, dpkg keeps the newer version, and its service continues (docs/guides/upgrade.md#roll-back).

/**
 * dpkg calls the script of the installed package with `upgrade VERSION`. If that fails, it calls the script of the other package
 * with `failed-upgrade INSTALLED VERSION`, which must fail too, or dpkg continues. A check that cannot read the store allows the
 * installation, because the older version may be what repairs the machine; the server itself refuses to start with 78.
 */
export const DOWNGRADE_CHECK = `
check_downgrade() {
  installed="$(dpkg-query --show --showformat='\${Version}' holdfast-server)"
  if ! dpkg --compare-versions "$1" lt "$installed"; then return 0; fi
  for config in /etc/holdfast/server.yaml /etc/holdfast/broker.yaml; do
    if [ ! -e "$config" ]; then continue; fi
    oldest="$(timeout 60 /usr/bin/holdfast-server upgrade oldest --config "$config" 2>/dev/null)" || oldest=
    if [ -z "$oldest" ]; then
      echo "holdfast-server: cannot read the records of the platform, so $1 may be too old for them. If it is, the service ends with 78 and names the oldest version that can start." >&2
    elif dpkg --compare-versions "$1" lt "$oldest"; then
      echo "holdfast-server: $1 cannot read the records of the platform, which $installed has written. The oldest version that can is $oldest. $installed stays installed and keeps running." >&2
      return 1
    else
      echo "holdfast-server: $1 is older than $installed, and reads the records of the platform. Agents go back before servers." >&2
    fi
    return 0
  done
}

if [ "$1" = upgrade ]; then check_downgrade "$2"; fi
if [ "$1" = failed-upgrade ] && dpkg --compare-versions "$3" lt "$2"; then exit 1; fi
`
