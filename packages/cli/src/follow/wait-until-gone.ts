// Waits until deleted deployments are gone: the platform removes a deployment after its containers.

import type { Client } from '@holdfast/client'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { pause } from '../terminal/pause.ts'
import { print, type Terminal } from '../terminal/terminal.ts'

const POLL_MS = 500

export async function waitUntilGone(
  terminal: Terminal,
  client: Client,
  names: readonly string[],
  longestMs: number,
): Promise<ExitCode> {
  const end = terminal.now() + longestMs
  for (const name of names) {
    for (;;) {
      const read = await client.deployments.read(name)
      if (!read.ok && read.failure.kind === 'rejected' && read.failure.status === 404) break
      if (!read.ok) return printFailure(terminal, read.failure)
      if (terminal.now() >= end) {
        printError(terminal, `${name} is still being deleted`)
        return EXIT.notReady
      }
      if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
    }
    print(terminal, `deployment/${name} deleted`)
  }
  return EXIT.ok
}
