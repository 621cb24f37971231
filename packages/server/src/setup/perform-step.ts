// Performs one step of a setup: files, certificates and units here, the secrets store and the platform in
// platform-steps.ts. A step that fails throws a SetupFault; setup can then be run again.

import { randomBytes } from 'node:crypto'
import { sleep } from '../lib/sleep.ts'
import { answers } from './engines.ts'
import { createFolder, readIfPresent, writeOwned } from './files.ts'
import { performJoinStep } from './join/perform-join-step.ts'
import { requirePair } from './join/require-invited.ts'
import { layoutBelow } from './layout.ts'
import { type IssuedPair, issuePair } from './openssl.ts'
import { type Performing, SetupFault } from './performing.ts'
import { createPlatformStep, issueIdentityStep, showPending, unsealStep } from './platform-steps.ts'
import type { AuthorityStep, CertificateStep, KeyStep, StartStep, Step } from './step.ts'

/** As long as the server's unit may take to read a large store. */
const READY_MS = 180_000
/** systemd starts every unit again; a start that failed only because the machine was busy then succeeds. */
const RESTARTED_MS = 60_000
const POLL_MS = 100
const KEY_BYTES = 32

export async function performStep(step: Step, work: Performing): Promise<void> {
  switch (step.kind) {
    case 'folder':
      return createFolder(work.machine, step)
    case 'write':
      return writeOwned(work.machine, step, step.content)
    case 'key':
      return writeKeys(step, work)
    case 'authority':
    case 'certificate':
      return writePair(step, work)
    case 'start':
      return startUnit(step, work)
    case 'unseal':
      return unsealStep(step, work)
    case 'identity':
      return issueIdentityStep(step, work)
    case 'platform':
      return createPlatformStep(step, work)
    case 'show':
      return showPending(work)
    default:
      return performJoinStep(step, work)
  }
}

/** An existing key stays: other processes use it. */
function writeKeys({ files }: KeyStep, { machine }: Performing): void {
  const existing = files.map(({ path }) => readIfPresent(path)).find((text) => text !== undefined)
  const key = existing ?? `${randomBytes(KEY_BYTES).toString('base64')}\n`
  for (const file of files) writeOwned(machine, file, key)
}

/** The key is written first: a certificate without its key would look issued. */
async function writePair(step: AuthorityStep | CertificateStep, work: Performing): Promise<void> {
  const { machine } = work
  const pair = await obtainPair(step, work)
  const owner = step.kind === 'authority' ? 'root' : step.owner
  writeOwned(machine, { path: step.key, mode: 0o600, owner }, pair.key)
  writeOwned(machine, { path: step.cert, mode: 0o644, owner: 'root' }, pair.cert)
}

async function obtainPair(
  step: AuthorityStep | CertificateStep,
  { options, invitation }: Performing,
): Promise<IssuedPair> {
  if (step.kind === 'certificate' && step.from === 'invitation') return requirePair(invitation, step.role)
  return issuePair(step, step.kind === 'authority' ? undefined : layoutBelow(options.root).authority)
}

async function startUnit(
  { unit, action, service }: StartStep,
  { machine, options }: Performing,
): Promise<void> {
  const explain = async (what: string): Promise<never> => {
    const log = await machine.readLog(unit).catch(() => '(its log is not available)')
    throw new SetupFault(
      `${unit} ${what}. Its last lines are below; the rest: journalctl --unit ${unit}\n${log}`,
    )
  }
  const patienceMs = await machine[action](unit).then(
    () => READY_MS,
    () => RESTARTED_MS,
  )
  const deadline = performance.now() + patienceMs
  while (!(await answers(service, options))) {
    if (performance.now() > deadline) await explain(`does not answer after ${patienceMs / 1000} s`)
    await sleep(POLL_MS)
  }
}
