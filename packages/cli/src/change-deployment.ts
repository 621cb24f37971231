// Changes some fields of a stored deployment. The update requires the revision that was read, so that it never
// overwrites the change of another user; fields that are not sent keep their values.

import type { Client, SentDeployment } from '@holdfast/client'
import type { DeploymentRecord } from '@holdfast/contract'
import { deploymentName } from './args/deployment-argument.ts'
import type { Invocation, OptionSpec } from './command.ts'
import { waitOptions } from './commands/apply.ts'
import { DRY_RUN_OPTION, printPlanned } from './dry-run.ts'
import type { ExitCode } from './exit-codes.ts'
import { followWritten } from './follow/follow-written.ts'
import { printFailure } from './print/failure.ts'
import { print } from './terminal/terminal.ts'

export const CHANGE_OPTIONS: readonly OptionSpec[] = [DRY_RUN_OPTION, ...waitOptions()]

export interface FieldChange {
  /** The fields to send. */
  readonly sent: SentDeployment
  /** Completes the sentence "deployment/web ...", in the past tense. */
  readonly outcome: string
}

export async function changeDeployment(
  invocation: Invocation,
  client: Client,
  change: (before: DeploymentRecord) => FieldChange,
): Promise<ExitCode> {
  const { terminal, args, flag } = invocation
  const name = deploymentName(args[0])
  const before = await client.deployments.read(name)
  if (!before.ok) return printFailure(terminal, before.failure)
  const { sent, outcome } = change(before.value)
  const conditions = { ifMatch: String(before.value.revision) }
  if (flag('dry-run')) {
    const planned = await client.dryRuns.update(name, sent, conditions)
    return printPlanned(terminal, `deployment/${name}`, outcome, planned, name)
  }
  const written = await client.deployments.update(name, sent, conditions)
  if (!written.ok) return printFailure(terminal, written.failure)
  const isSame = written.value.deployment.revision === before.value.revision
  print(terminal, `deployment/${name} ${isSame ? 'unchanged' : outcome}`)
  return followWritten(invocation, client, written.value)
}
