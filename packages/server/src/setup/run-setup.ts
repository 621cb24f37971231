// `holdfast-server setup --single` and `--join`: gathers facts, plans, and performs the plan, or prints it with --dry-run. Only
// credentials go to standard output, so that a script can read them; everything else goes to standard error.

import { readFileSync } from 'node:fs'
import { defined } from '@holdfast/contract'
import { secret } from '../ports/secret.ts'
import { describeStep } from './describe-step.ts'
import { readIfPresent } from './files.ts'
import { gatherFacts } from './gather-facts.ts'
import { readInvitation } from './join/invitation.ts'
import { configuredAddress } from './join/network.ts'
import { LOOPBACK, layoutBelow, type SetupOptions } from './layout.ts'
import type { Machine } from './machine.ts'
import { performStep } from './perform-step.ts'
import { type Performing, SetupFault } from './performing.ts'
import { planSetup } from './plan-setup.ts'

/** The content of the command line; the machine and the invitation have the rest. */
export type SetupRun = SingleRun | JoinRun

export interface SingleRun {
  readonly kind: 'single'
  readonly options: Omit<SetupOptions, 'address' | 'joins'>
  /** Undefined: the address of the last setup, or loopback. */
  readonly address: string | undefined
  readonly dryRun: boolean
  readonly unsealKeyFile: string | undefined
}

export interface JoinRun {
  readonly kind: 'join'
  readonly options: Pick<SetupOptions, 'root' | 'engines' | 'ports'>
  readonly invitationFile: string
  /** Undefined: the port of the machine that wrote the invitation. */
  readonly listenPort: number | undefined
  readonly dryRun: boolean
  readonly unsealKeyFile: string | undefined
}

export interface SetupOutput {
  out(text: string): void
  err(text: string): void
}

/** Returns the exit code: 0 if the machine is set up or the plan was printed, otherwise 1. */
export async function runSetup(run: SetupRun, machine: Machine, output: SetupOutput): Promise<number> {
  const { options, invitation } = run.kind === 'single' ? { options: completeSingle(run) } : completeJoin(run)
  const { dryRun, unsealKeyFile } = run
  const unsealKey =
    unsealKeyFile === undefined ? undefined : secret(readFileSync(unsealKeyFile, 'utf8').trim())
  const given = { hasUnsealKey: unsealKey !== undefined, ...defined({ invitation }) }
  const facts = await gatherFacts(options, machine, given)
  const plan = planSetup(facts, options)
  if (plan.kind === 'refused') {
    for (const reason of plan.reasons) output.err(`${reason}\n`)
    return 1
  }
  if (dryRun) {
    output.out(plan.steps.map((step) => `${describeStep(step)}\n`).join('') || DONE)
    return 0
  }
  const report = (message: string): void => output.err(`${message}\n`)
  const show: Performing['show'] = (credentials) => {
    report('The values below are shown once. Store them in a safe place, away from this machine.')
    output.out(`${JSON.stringify(credentials, undefined, 2)}\n`)
  }
  const performing: Performing = { options, machine, unsealKey, invitation, report, show }
  for (const step of plan.steps) {
    report(describeStep(step))
    await performStep(step, performing)
  }
  report(plan.steps.length === 0 ? DONE.trimEnd() : conclude(options))
  return 0
}

const conclude = ({ name, publicUrl, joins }: SetupOptions): string =>
  joins === undefined
    ? `Holdfast serves ${publicUrl}`
    : `${name} serves ${publicUrl} with the other machines. Run setup again on those, so that they use its etcd too.`

function completeSingle({ options, address }: SingleRun): SetupOptions {
  const environment = readIfPresent(layoutBelow(options.root).etcdEnvironment)
  return { ...options, address: address ?? configuredAddress(environment) ?? LOOPBACK }
}

function completeJoin({ options, invitationFile, listenPort }: JoinRun) {
  const invitation = readInvitation(readFileSync(invitationFile, 'utf8'))
  if (invitation === undefined)
    throw new SetupFault(
      `${invitationFile} is no invitation that this version reads. Create one on a machine of the platform: holdfast-server setup invite`,
    )
  const { name, address, publicUrl, etcd, secretsStores } = invitation
  const joins = { etcd, secretsStores }
  const port = listenPort ?? invitation.listenPort
  return { invitation, options: { ...options, name, address, publicUrl, listenPort: port, joins } }
}

const DONE = 'Everything is set up; nothing to do.\n'
