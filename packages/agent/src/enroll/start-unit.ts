// `holdfast-agent enroll --start`: writes the options of the agent's unit and its rights for a pool, then enables and starts
// it. The unit starts Caddy and the fencer.

import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { EnrollmentFailed } from './enroll.ts'

const UNIT = 'holdfast-agent.service'
/** The rights of the agent for a pool, as the package installs them, and where systemd reads them. */
const POOL_RIGHTS = '/usr/lib/holdfast-agent/holdfast-agent-pool.conf'
const DROP_IN = `/etc/systemd/system/${UNIT}.d/pool.conf`
const PROBE_MS = 30_000
/** Longer than TimeoutStartSec of the unit: the first start may create and format the file of a pool. */
const START_MS = 960_000

const systemctl = (args: readonly string[], timeout = PROBE_MS) =>
  promisify(execFile)('systemctl', [...args], { timeout })

/** Throws if this machine has no unit to start. */
export async function requireUnit(): Promise<void> {
  try {
    await systemctl(['cat', UNIT])
  } catch (error) {
    throw new EnrollmentFailed(
      `--start needs systemd and ${UNIT}, which the package holdfast-agent installs. The join token was not used.`,
      { cause: error },
    )
  }
}

/** Starts the unit, or restarts it: it may run with an earlier enrollment. Without options, an existing file stays. */
export async function startUnit(optionsFile: string, options: readonly string[]): Promise<void> {
  try {
    if (options.length > 0) writeOptions(optionsFile, options)
    await systemctl(['daemon-reload'])
    await systemctl(['enable', '--quiet', UNIT])
    await systemctl(['restart', UNIT], START_MS)
  } catch (error) {
    throw new EnrollmentFailed(
      `The node is enrolled, and ${UNIT} did not start. Read: journalctl --unit ${UNIT}. Then: systemctl enable --now ${UNIT}`,
      { cause: error },
    )
  }
}

function writeOptions(optionsFile: string, options: readonly string[]): void {
  mkdirSync(dirname(optionsFile), { recursive: true })
  writeFileSync(optionsFile, optionsText(options))
  rmSync(DROP_IN, { force: true })
  if (!options.includes('--pool')) return
  mkdirSync(dirname(DROP_IN), { recursive: true })
  symlinkSync(POOL_RIGHTS, DROP_IN)
}

/** The environment file of the unit. */
export const optionsText = (options: readonly string[]): string =>
  `# Options of holdfast-agent run. After a change: systemctl restart holdfast-agent\nOPTIONS=${options.join(' ')}\n`
