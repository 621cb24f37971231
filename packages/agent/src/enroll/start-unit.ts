// `holdfast-agent enroll --start`: writes the options of the agent's unit, then enables and starts it. The unit starts Caddy
// and the fencer.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { EnrollmentFailed } from './enroll.ts'

const UNIT = 'holdfast-agent.service'
const PROBE_MS = 30_000
/** Longer than TimeoutStartSec of the unit: the first start may create and format the file of a pool. */
const START_MS = 960_000

const systemctl = (args: readonly string[], timeout: number) =>
  promisify(execFile)('systemctl', [...args, UNIT], { timeout })

/** Throws if this machine has no unit to start. */
export async function requireUnit(): Promise<void> {
  try {
    await systemctl(['cat'], PROBE_MS)
  } catch (error) {
    throw new EnrollmentFailed(
      `--start needs systemd and ${UNIT}, which the package holdfast-agent installs. The join token was not used.`,
      { cause: error },
    )
  }
}

/** Starts the unit, or restarts it: it may run with an earlier enrollment. Without options, an existing file stays. */
export async function startUnit(optionsFile: string, options: readonly string[]): Promise<void> {
  if (options.length > 0) {
    mkdirSync(dirname(optionsFile), { recursive: true })
    writeFileSync(optionsFile, optionsText(options))
  }
  try {
    await systemctl(['enable', '--quiet'], PROBE_MS)
    await systemctl(['restart'], START_MS)
  } catch (error) {
    throw new EnrollmentFailed(
      `The node is enrolled, and its unit did not start. Read: journalctl --unit ${UNIT}. Then: systemctl enable --now ${UNIT}`,
      { cause: error },
    )
  }
}

/** The environment file of the unit. */
export const optionsText = (options: readonly string[]): string =>
  `# Options of holdfast-agent run. After a change: systemctl restart holdfast-agent\nOPTIONS=${options.join(' ')}\n`
