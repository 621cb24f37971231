// Prints the alterations and warnings of a write and, with --wait, waits until the deployment is ready.

import type { Client, Written } from '@holdfast/client'
import type { Invocation } from '../command.ts'
import { waitMs } from '../commands/apply.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { printAnnounced } from '../print/changes.ts'

export async function followWritten(
  invocation: Invocation,
  client: Client,
  written: Written,
): Promise<ExitCode> {
  const { terminal, flag } = invocation
  printAnnounced(terminal, written, { verbose: flag('verbose'), secrets: written.deployment.secrets ?? [] })
  if (!flag('wait')) return EXIT.ok
  const { waitUntilReady } = await import('./wait-until-ready.ts')
  const { name, revision } = written.deployment
  return waitUntilReady(terminal, client, [{ name, revision }], waitMs(invocation))
}
