// The scripts that dpkg and rpm run: they create users, restart running services after an upgrade, and delete data only when
// the package is purged. dpkg passes words (configure, remove, purge), rpm the number of packages that remain.

import type { Unit } from './units.ts'

export interface MaintainerScripts {
  readonly preinstall: string
  readonly postinstall: string
  readonly preremove: string
  readonly postremove: string
}

export interface ScriptFacts {
  readonly units: readonly Unit[]
  /** Users beside those of the units. */
  readonly users: readonly string[]
  /** Files and folders that purge deletes beside the state of the units. */
  readonly purged: readonly string[]
  /** Units that an upgrade must not restart: they serve the data of other machines and are upgraded one by one. */
  readonly keepRunning: readonly string[]
  /** Part of the script before removal: what it checks when dpkg replaces the package by an older one. */
  readonly downgradeCheck?: string
}

const HEAD = '#!/bin/sh\nset -e\n'
const WITH_SYSTEMD = 'if [ -d /run/systemd/system ]; then'

export function maintainerScripts(facts: ScriptFacts): MaintainerScripts {
  const users = [...new Set([...facts.users, ...facts.units.flatMap(({ user }) => user ?? [])])].toSorted()
  return {
    // Before the files are unpacked, so that systemd never sees a unit without its user.
    preinstall: script(users.map(createUser)),
    postinstall: script(facts.units.length === 0 ? [] : [reloadAndRestart(facts)]),
    preremove: script([
      ...(facts.units.length === 0 ? [] : [stopOnRemoval(facts.units)]),
      facts.downgradeCheck ?? '',
    ]),
    postremove: script([...afterRemoval(facts)]),
  }
}

const script = (parts: readonly string[]): string => `${HEAD}${parts.join('')}`

const createUser = (user: string): string => `
if ! getent passwd ${user} >/dev/null; then
  getent group ${user} >/dev/null || groupadd --system ${user}
  useradd --system --gid ${user} --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin ${user}
fi
`

/**
 * try-restart changes only units that run: installation starts nothing, because there is no configuration yet. An aborted
 * upgrade has replaced no file.
 */
function reloadAndRestart({ units, keepRunning }: ScriptFacts): string {
  const restarted = units.map(({ name }) => name).filter((name) => !keepRunning.includes(name))
  const restart = restarted.length === 0 ? '' : `  systemctl try-restart ${restarted.join(' ')} || true\n`
  return `
if [ "$1" != abort-upgrade ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
${restart}fi
`
}

const stopOnRemoval = (units: readonly Unit[]): string => `
if [ "$1" = remove ] || [ "$1" = 0 ]; then
  ${WITH_SYSTEMD}
    systemctl disable --now ${units.map(({ name }) => name).join(' ')} || true
  fi
fi
`

/** Only dpkg can purge. A pool that is still mounted below the folder keeps its volumes, which rm reports as a failure. */
function* afterRemoval({ units, purged }: ScriptFacts): Generator<string> {
  if (units.length > 0) yield `\n${WITH_SYSTEMD}\n  systemctl daemon-reload || true\nfi\n`
  const paths = [...new Set([...units.flatMap(({ state }) => state), ...purged])].toSorted()
  if (paths.length === 0) return
  const lines = paths.map((path) => `  rm -rf --one-file-system ${path} || true\n`).join('')
  yield `\nif [ "$1" = purge ]; then\n${lines}  rmdir --ignore-fail-on-non-empty /etc/holdfast /var/lib/holdfast 2>/dev/null || true\nfi\n`
}
