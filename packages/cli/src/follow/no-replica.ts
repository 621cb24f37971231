// Explains a failed `--replica`: the replicas that there are, or the state of one that does not run.

import type { Client, Failure } from '@holdfast/client'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { replicaState } from '../print/containers.ts'
import { printError, printFailure } from '../print/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** `canary`: whether only replicas of the canary were asked for. */
export interface AskedReplica {
  readonly name: string
  readonly replica: number | undefined
  readonly canary: boolean
}

/** Prints a failure. If the platform rejected the number of the replica, names the replicas of the deployment. */
export async function printReplicaFailure(
  terminal: Terminal,
  client: Client,
  { name, replica, canary }: AskedReplica,
  failure: Failure,
): Promise<ExitCode> {
  const isAboutReplica = failure.kind === 'rejected' && failure.rejections[0]?.field === 'replica'
  const placements = isAboutReplica ? await client.deployments.placements(name) : undefined
  if (placements?.ok !== true) return printFailure(terminal, failure)
  const items = placements.value.items.filter((item) => !canary || item.canary === true)
  const found = items.find((item) => item.replica === replica)
  const numbers = [...new Set(items.map((item) => item.replica))].join(', ')
  if (items.length === 0)
    printError(terminal, canary ? `${name} has no replica of a canary` : `${name} has no replica`)
  else if (replica === undefined)
    printError(terminal, `no replica of ${name} is running; see holdfast ps ${name}`)
  else if (found === undefined) printError(terminal, `there is no replica ${replica}: ${numbers}`)
  else printError(terminal, `replica ${replica} is not running: ${replicaState(found)}`)
  return EXIT.notFound
}
